//! The command line. It is a contract: scripts depend on it.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::duration::{positive_seconds, seconds};
use crate::target::{HEADING, Target};

/// A Redis message queue with leases, fencing tokens and replayed claims.
///
/// Exit status: 0 done, 1 operation failed, 2 bad usage or configuration, 3 nothing there.
#[derive(Parser)]
#[command(name = "leaseline", version, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) target: Target,

    /// Print one JSON object a line, results on standard output and messages on standard error
    #[arg(long, global = true, help_heading = HEADING)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
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
    /// Show how long the queue's lists are
    Stats,
    /// Move dead letters, oldest first, back to pending
    Redrive(Redrive),
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

    /// Publish only if no message with this key was published within the deduplication window.
    /// For a single message
    #[arg(long, value_name = "KEY")]
    pub(crate) dedup_key: Option<OsString>,

    /// The deduplication window [default: 3600]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, requires = "dedup_key")]
    pub(crate) dedup_ttl: Option<Duration>,

    /// Messages that are sent in one go, at most
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) batch: u32,

    /// The most messages that may be pending
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_pending_length: Option<u64>,

    /// What happens at that limit: refuse, remove the oldest message for good, or wait a second for
    /// room
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "raise",
        requires_ifs = [("drop-oldest", "max_pending_length"), ("block", "max_pending_length")]
    )]
    pub(crate) pending_overload_policy: Policy,
}

/// What happens to a publish when the queue is full.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Policy {
    Raise,
    DropOldest,
    Block,
}

/// How messages are claimed. All consumers of a queue must agree on whether there are leases.
#[derive(Args)]
pub(crate) struct Leasing {
    /// How long a claim holds its message [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds)]
    pub(crate) visibility_timeout: Option<Duration>,

    /// Claim without leases: a consumer that dies keeps its message for good
    #[arg(long, conflicts_with = "visibility_timeout")]
    pub(crate) no_lease: bool,

    /// Claims of one message before it is dead-lettered; 0 is no limit [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) max_deliveries: Option<u32>,
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

/// Where `ack`, `fail` and `renew` get their leases from.
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

    /// Keep the payload in the completed log, and the log this long [default: no log]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_completed_length: Option<u64>,
}

/// `fail`.
#[derive(Args)]
pub(crate) struct Fail {
    #[command(flatten)]
    pub(crate) leases: Leases,

    /// Keep the payload in the failed log, and the log this long [default: no log]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_failed_length: Option<u64>,
}

/// `renew`.
#[derive(Args)]
pub(crate) struct Renew {
    #[command(flatten)]
    pub(crate) leases: Leases,

    /// How far from now the new deadline is
    #[arg(long, value_name = "SECONDS", default_value = "300", value_parser = positive_seconds)]
    pub(crate) visibility_timeout: Duration,
}

/// `work`.
#[derive(Args)]
pub(crate) struct Work {
    /// The command, run by sh -c for each message
    ///
    /// The payload is its standard input. LEASELINE_MESSAGE_ID, LEASELINE_TOKEN and
    /// LEASELINE_DELIVERY_COUNT are in its environment, the first two only where there are any. Exit
    /// status 0 acknowledges the message; any other, and a signal, ends it as failed. 126 and 127
    /// mean that the command could not be run: then work stops, leaves the message to its lease
    /// and exits with 1. A command that is not found at the start is refused before any claim.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) exec: OsString,

    /// Commands that run at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) concurrency: u16,

    /// Renew the leases of running commands this often, below half the visibility timeout
    /// [default: a third of it]
    #[arg(long, value_name = "SECONDS", value_parser = positive_seconds, conflicts_with = "no_lease")]
    pub(crate) heartbeat: Option<Duration>,

    #[command(flatten)]
    pub(crate) leasing: Leasing,

    /// After SIGTERM or SIGINT, how long running commands may take [default: as long as they do]
    ///
    /// Commands that still run then are ended by SIGTERM, their messages stay under their leases,
    /// and the exit status is 1. It is 0 if all commands ended by themselves. A second signal does
    /// not wait.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) drain_timeout: Option<Duration>,

    /// End when nothing is pending and nothing runs here; leases of others do not count
    #[arg(long)]
    pub(crate) until_empty: bool,

    /// End after this many messages; never claims more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    /// Keep acknowledged payloads in the completed log, and the log this long [default: no log]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_completed_length: Option<u64>,

    /// Keep failed payloads in the failed log, and the log this long [default: no log]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_failed_length: Option<u64>,
}

/// `redrive`.
#[derive(Args)]
pub(crate) struct Redrive {
    /// The most dead letters to move [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max: Option<u64>,
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
