//! The command line. It is a contract: scripts depend on it.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use leaseline::message::List;

use crate::duration::{positive_seconds, seconds};
use crate::failure::Failure;
use crate::settings::{
    CompletedLog, FailedLog, File, Given, Heartbeat, Leasing, Publishing, Shared, take,
};
use crate::target::{HEADING, Target};

/// A Redis message queue with leases, fencing tokens and replayed claims.
///
/// Exit status: 0 done, 1 operation failed, 2 bad usage or configuration, 3 nothing there.
#[derive(Parser)]
#[command(name = "leaseline", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) target: Target,

    /// A TOML file with settings: each flag that has an environment variable is a key, with
    /// underscores
    ///
    /// A flag counts more than the environment, and that more than the file.
    #[arg(long, value_name = "FILE", global = true, env = "LEASELINE_CONFIG", help_heading = HEADING)]
    config: Option<PathBuf>,

    /// Print one JSON object a line, results on standard output and messages on standard error
    #[arg(long, global = true, help_heading = HEADING)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Arguments {
    /// Takes from the configuration file, if there is one, what is not given.
    pub(crate) fn fill(&mut self, given: &Given<'_>) -> Result<(), Failure> {
        let file = File::read(self.config.as_deref())?;
        self.target.fill(&file, self.config.as_deref());
        match &mut self.command {
            Command::Publish(publish) => publish.fill(&file, given),
            Command::Work(work) => work.fill(&mut self.target.shared, &file, given),
            Command::Claim(claim) => claim.leasing.fill(&mut self.target.shared, &file, given),
            Command::Ack(ack) => {
                ack.log.fill(&file);
                Ok(())
            }
            Command::Fail(fail) => {
                fail.log.fill(&file);
                Ok(())
            }
            Command::Renew(renew) => {
                take(&mut renew.visibility_timeout, &file.visibility_timeout);
                Ok(())
            }
            Command::Demo
            | Command::Release(_)
            | Command::Stats
            | Command::Peek(_)
            | Command::Purge(_)
            | Command::Redrive(_)
            | Command::Doctor
            | Command::Sim(_)
            | Command::Serve(_) => Ok(()),
        }
    }
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// A tour of the queue in a few seconds; needs nothing, and checks everything it shows
    ///
    /// With --redis it runs there, on a queue of its own whose keys it removes.
    Demo,
    /// Publish messages
    Publish(Publish),
    /// Run a command for each message
    Work(Work),
    /// Claim messages; settle them with ack or fail before their leases expire
    Claim(Claim),
    /// Acknowledge claimed messages
    Ack(Ack),
    /// End claimed messages as failed
    Fail(Fail),
    /// Move the deadlines of leases to now plus the visibility timeout
    Renew(Renew),
    /// Give claimed messages back, to be claimed again after a delay
    Release(Release),
    /// Show how many messages are where
    ///
    /// overdue are the leases and delays that are over and that no claim has met yet: every claim
    /// brings a hundred of their messages back, so a number that stays says that nobody claims.
    Stats,
    /// Look at messages without taking them, newest first
    Peek(Peek),
    /// Remove messages for good
    Purge(Purge),
    /// Move dead letters, oldest first, back to pending
    Redrive(Redrive),
    /// Look for what loses messages, holds them up or delivers them twice; changes nothing
    ///
    /// Exit status 1 if there is a problem; warnings and notes are told.
    Doctor,
    /// Run histories of a queue under simulated faults, each from a seed; needs nothing
    ///
    /// The queue logic and the scripts are those of this program, on a model of Redis in virtual
    /// time. A failure is made short and told, with the line that replays it; exit status 1.
    Sim(Sim),
    /// Serve a model of Redis on a TCP port, for tests with any client; never for production
    ///
    /// It keeps everything in memory until SIGTERM or SIGINT ends it. Prints its URL once it
    /// accepts connections.
    Serve(Serve),
}

/// `publish`.
///
/// Order: PAYLOADs, files, lines.
#[derive(Args)]
pub(crate) struct Publish {
    /// A message; any bytes. Use -- before one that begins with a dash
    #[arg(value_name = "PAYLOAD")]
    pub(crate) payloads: Vec<OsString>,

    /// Publish a file as one message; - is standard input. May be repeated
    #[arg(long = "file", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,

    /// Publish each line of a file as a message; - is standard input
    ///
    /// A line ends at LF, which is not part of the message; a CR before it is. The last line needs
    /// no LF. Empty lines are messages. Prints a summary instead of a line for each message.
    #[arg(long, value_name = "FILE")]
    pub(crate) lines: Option<PathBuf>,

    /// The payloads are JSON objects: each is checked, and stored in the one form that the original
    /// stores too
    ///
    /// Keys sorted, of two equal ones the last; ", " and ": " between; ASCII; numbers as Python
    /// writes them. (--json is about results.)
    #[arg(long)]
    pub(crate) json_payload: bool,

    /// Publish only if no message with this key was published within the deduplication window.
    /// For a single message
    #[arg(long, value_name = "KEY")]
    pub(crate) dedup_key: Option<OsString>,

    /// How long nobody can claim the messages; the consumers of the queue must use leases
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) delay: Duration,

    #[command(flatten)]
    pub(crate) publishing: Publishing,
}

impl Publish {
    fn fill(&mut self, file: &File, given: &Given<'_>) -> Result<(), Failure> {
        if self.dedup_key.is_none() && Publishing::asks_for_a_window(given) {
            return Err(Failure::usage(
                "--dedup-ttl is for a message with a deduplication key; give --dedup-key, or leave it out",
            ));
        }
        self.publishing.fill(file);
        Ok(())
    }
}

/// `claim`.
#[derive(Args)]
pub(crate) struct Claim {
    /// The most messages to claim
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max: u32,

    /// How long to wait for the first
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) wait: Duration,

    #[command(flatten)]
    pub(crate) leasing: Leasing,
}

/// Where `ack`, `fail`, `renew` and `release` get their leases from.
#[derive(Args)]
pub(crate) struct Leases {
    /// A lease as claim --json printed it, alone or in its whole line; - reads one a line from
    /// standard input
    ///
    /// Nothing is sent before all of them are read: at most 1000000, in lines of together 512 MiB.
    /// The queue is that of the lease; if --queue is
    /// given too, it must be the same.
    #[arg(long, value_name = "JSON|-", required = true)]
    pub(crate) lease: String,
}

/// `ack`.
#[derive(Args)]
pub(crate) struct Ack {
    #[command(flatten)]
    pub(crate) leases: Leases,

    #[command(flatten)]
    pub(crate) log: CompletedLog,
}

/// `fail`.
#[derive(Args)]
pub(crate) struct Fail {
    #[command(flatten)]
    pub(crate) leases: Leases,

    #[command(flatten)]
    pub(crate) log: FailedLog,
}

/// `renew`.
#[derive(Args)]
pub(crate) struct Renew {
    #[command(flatten)]
    pub(crate) leases: Leases,

    /// How far from now the new deadline is [default: 300]
    #[arg(long, value_name = "SECONDS", env = "LEASELINE_VISIBILITY_TIMEOUT", value_parser = positive_seconds)]
    pub(crate) visibility_timeout: Option<Duration>,
}

/// `release`.
#[derive(Args)]
pub(crate) struct Release {
    #[command(flatten)]
    pub(crate) leases: Leases,

    /// How long nobody can claim the message; it keeps its count of deliveries
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    pub(crate) delay: Duration,
}

/// `work`.
#[derive(Args)]
pub(crate) struct Work {
    /// The command, run by sh -c for each message
    ///
    /// The payload is its standard input. LEASELINE_MESSAGE_ID, LEASELINE_TOKEN and
    /// LEASELINE_DELIVERY_COUNT are in its environment, the first two only where there are any. Exit
    /// status 0 acknowledges the message; any other ends it as failed: it is gone then but for the
    /// failed log (--max-failed-length). With --retry-delay it is released instead. A signal that
    /// ends the command, 129 to 192 for the shell, leaves the message to its lease, so that it comes
    /// back until --max-deliveries. 126 and 127 mean that the command could not be run: then work
    /// stops, leaves the message to its lease and exits with 1. A command that is not found at the
    /// start is refused before any claim.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) exec: OsString,

    /// Commands that run at once [default: 1]
    #[arg(long, value_name = "N", env = "LEASELINE_CONCURRENCY", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) concurrency: Option<u16>,

    #[command(flatten)]
    pub(crate) heartbeat: Heartbeat,

    /// Release the message of a command that failed, to be claimed again this much later, until it
    /// was delivered --max-deliveries times and goes to the dead letters [default: it ends as failed]
    #[arg(long, value_name = "SECONDS", env = "LEASELINE_RETRY_DELAY", value_parser = seconds, conflicts_with = "no_lease")]
    pub(crate) retry_delay: Option<Duration>,

    #[command(flatten)]
    pub(crate) leasing: Leasing,

    /// After SIGTERM or SIGINT, how long running commands may take [default: as long as they do]
    ///
    /// Commands that still run then are ended by SIGTERM, and 5 seconds later by SIGKILL; their
    /// messages stay under their leases, and the exit status is 1. It is 0 if all commands ended by
    /// themselves. A second signal does not wait.
    #[arg(long, value_name = "SECONDS", env = "LEASELINE_DRAIN_TIMEOUT", value_parser = seconds)]
    pub(crate) drain_timeout: Option<Duration>,

    /// End when nothing is pending and nothing runs here; leases of others do not count, and neither
    /// do messages that are delayed
    #[arg(long)]
    pub(crate) until_empty: bool,

    /// End after this many messages; never claims more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    #[command(flatten)]
    pub(crate) completed: CompletedLog,

    #[command(flatten)]
    pub(crate) failed: FailedLog,
}

impl Work {
    fn fill(&mut self, shared: &mut Shared, file: &File, given: &Given<'_>) -> Result<(), Failure> {
        take(&mut self.concurrency, &file.concurrency);
        take(&mut self.retry_delay, &file.retry_delay);
        take(&mut self.drain_timeout, &file.drain_timeout);
        self.completed.fill(file);
        self.failed.fill(file);
        self.leasing.fill(shared, file, given)?;
        self.heartbeat.fill(&self.leasing, file, given)
    }
}

/// `peek`.
#[derive(Args)]
pub(crate) struct Peek {
    /// The list to look at
    #[arg(long, value_enum, value_name = "LIST", default_value = "pending")]
    pub(crate) from: ListName,

    /// The most messages to show, at most 1000
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max: u32,
}

/// `purge`.
///
/// Deduplication keys stay: a purged message is still a duplicate within its window.
#[derive(Args)]
pub(crate) struct Purge {
    /// The list to empty; not processing, whose messages are held
    #[arg(long, value_enum, value_name = "LIST")]
    pub(crate) from: ListName,

    /// Really do it
    #[arg(long)]
    pub(crate) yes: bool,
}

/// One of the lists of a queue.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ListName {
    /// Messages that can be claimed
    Pending,
    /// Messages that are claimed or delayed
    Processing,
    /// The log of acknowledged payloads
    Completed,
    /// The log of failed payloads
    Failed,
    /// The dead letters
    Dlq,
}

impl ListName {
    pub(crate) fn list(self) -> List {
        match self {
            Self::Pending => List::Pending,
            Self::Processing => List::Processing,
            Self::Completed => List::Completed,
            Self::Failed => List::Failed,
            Self::Dlq => List::DeadLetters,
        }
    }
}

/// `redrive`.
#[derive(Args)]
pub(crate) struct Redrive {
    /// The most dead letters to move [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max: Option<u64>,
}

/// `sim`.
#[derive(Args)]
pub(crate) struct Sim {
    /// How many seeds to run, from 0 on [default: 1000, or as --minutes says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["seed", "case"])]
    pub(crate) seeds: Option<u64>,

    /// Run this seed only, and tell and draw what happens
    #[arg(long, value_name = "S", conflicts_with = "case")]
    pub(crate) seed: Option<u64>,

    /// Run the case of this file only, and tell and draw what happens
    #[arg(long, value_name = "FILE")]
    pub(crate) case: Option<PathBuf>,

    /// Run seeds for so long at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000), conflicts_with_all = ["seed", "case"])]
    pub(crate) minutes: Option<u64>,

    /// Which faults there are: swarm, calm, network, workers or server
    #[arg(long, value_name = "PROFILE", default_value = "swarm", value_parser = leaseline_sim::Profile::named)]
    pub(crate) profile: leaseline_sim::Profile,

    /// Run the scripts of this folder in place of the program's own
    #[arg(long, value_name = "DIR")]
    pub(crate) lua: Option<PathBuf>,
}

/// `serve`.
#[derive(Args)]
pub(crate) struct Serve {
    /// The port; 0 is one that is free
    #[arg(long, value_name = "N", default_value_t = 6379)]
    pub(crate) port: u16,

    /// The address to listen on. Anyone who reaches it may read and change everything
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) bind: IpAddr,

    /// The version of Redis to follow
    #[arg(long, value_name = "PROFILE", default_value = "redis-7.0")]
    pub(crate) profile: RedisVersion,

    /// What clients have to say first [default: nothing]
    #[arg(
        long,
        value_name = "PASSWORD",
        env = "LEASELINE_SERVE_PASSWORD",
        hide_env_values = true
    )]
    pub(crate) password: Option<String>,
}

/// A version of Redis that the model follows.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum RedisVersion {
    #[value(name = "redis-7.0")]
    Redis70,
    #[value(name = "redis-7.2")]
    Redis72,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
