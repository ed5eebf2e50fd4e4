//! Running the command of `work --exec`.

mod check;

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use leaseline::Delivery;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Command;

use crate::failure::Failure;
use crate::stdin_file;

/// The shell's statuses for "found, but cannot be executed" and "not found".
const CANNOT_EXECUTE: [i32; 2] = [126, 127];

/// The shell's statuses for a command that a signal ended: 128 and the signal.
const SIGNALLED: std::ops::RangeInclusive<i32> = 129..=192;

/// How long a command that was asked to end may take before it is ended.
const GRACE: Duration = Duration::from_secs(5);

/// How long to wait before looking again whether a command has ended.
const LOOK: Duration = Duration::from_millis(20);

/// A longer message id is not put into the environment, which is limited.
const MAX_ID_BYTES: usize = 4096;

/// How a command ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The message is done.
    Success,
    /// The message failed; why, in words.
    Failure(String),
    /// Something ended the command, a shutdown or the kernel, which says nothing about the message;
    /// what, in words.
    Killed(String),
    /// The command did not run, which says nothing about the message either; why, in words.
    NotRun(String),
}

/// A shell command that is run for each message.
pub(crate) struct Exec {
    command: OsString,
    /// Standard output is for results of ours: the command's goes to standard error.
    divert_output: bool,
    /// Process groups of the running commands.
    running: Mutex<HashSet<u32>>,
}

impl Exec {
    /// Refuses a command that cannot work for any message: blank, misspelt, or not there.
    pub(crate) async fn new(command: OsString, divert_output: bool) -> Result<Arc<Self>, Failure> {
        check::check(&command).await?;
        Ok(Arc::new(Self {
            command,
            divert_output,
            running: Mutex::default(),
        }))
    }

    /// Runs the command for a message and waits for its end, which it is asked for when `over` is
    /// ready.
    pub(crate) async fn run(&self, delivery: &Delivery, over: impl Future<Output = ()>) -> Ended {
        let status = match self.spawn_and_wait(delivery, over).await {
            Ok(status) => status,
            Err(error) => return Ended::NotRun(error.to_string()),
        };
        match (status.code(), status.signal()) {
            (Some(0), _) => Ended::Success,
            (Some(code), _) if CANNOT_EXECUTE.contains(&code) => {
                Ended::NotRun(format!("the shell ended with {code}"))
            }
            (Some(code), _) if SIGNALLED.contains(&code) => {
                Ended::Killed(format!("the command was ended by signal {}", code - 128))
            }
            (Some(code), _) => Ended::Failure(format!("the command ended with {code}")),
            (None, Some(signal)) => {
                Ended::Killed(format!("the command was ended by signal {signal}"))
            }
            (None, None) => Ended::Failure("the command ended abnormally".into()),
        }
    }

    async fn spawn_and_wait(
        &self,
        delivery: &Delivery,
        over: impl Future<Output = ()>,
    ) -> io::Result<ExitStatus> {
        let mut command = Command::new("sh");
        command
            .arg("-c")
            .arg(&self.command)
            .stdin(stdin_file::holding(delivery.payload())?)
            .env(
                "LEASELINE_DELIVERY_COUNT",
                delivery.delivery_count().to_string(),
            )
            .env_remove("LEASELINE_MESSAGE_ID")
            .env_remove("LEASELINE_TOKEN")
            // Its own group, so that an interrupt from the terminal reaches only this process,
            // which then lets the command finish.
            .process_group(0);
        // Another producer may have put anything into an id.
        let id = delivery.message_id();
        if let Some(id) = id.filter(|id| id.len() <= MAX_ID_BYTES && !id.contains('\0')) {
            command.env("LEASELINE_MESSAGE_ID", id);
        }
        if let Some(token) = delivery.token() {
            command.env("LEASELINE_TOKEN", token);
        }
        if self.divert_output {
            command.stdout(standard_error());
        }
        let mut child = command.spawn()?;
        let Some(group) = child.id() else {
            return child.wait().await;
        };
        self.running().insert(group);
        let ended = tokio::select! {
            biased;
            status = child.wait() => Some(status),
            () = over => None,
        };
        let status = match ended {
            Some(status) => status,
            None => {
                signal(group, Signal::TERM);
                match tokio::time::timeout(GRACE, child.wait()).await {
                    Ok(status) => status,
                    Err(_) => {
                        signal(group, Signal::KILL);
                        child.wait().await
                    }
                }
            }
        };
        self.running().remove(&group);
        status
    }

    /// Asks all running commands, and what they have started, to end (SIGTERM).
    pub(crate) fn terminate(&self) {
        for &group in self.running().iter() {
            signal(group, Signal::TERM);
        }
    }

    /// The same, and ends those that have not ended after a while (SIGKILL).
    pub(crate) async fn end(&self) {
        self.terminate();
        let over = tokio::time::Instant::now() + GRACE;
        while tokio::time::Instant::now() < over {
            if !self.running().iter().any(|&group| is_running(group)) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
        for &group in self.running().iter() {
            signal(group, Signal::KILL);
        }
    }

    fn running(&self) -> std::sync::MutexGuard<'_, HashSet<u32>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a signal to a command and to what it has started.
fn signal(group: u32, signal: Signal) {
    if let Some(group) = process(group) {
        // It may have ended just now.
        let _ = kill_process_group(group, signal);
    }
}

/// Whether a command, or something that it has started, still runs.
fn is_running(group: u32) -> bool {
    process(group).is_some_and(|group| test_kill_process_group(group).is_ok())
}

fn process(group: u32) -> Option<Pid> {
    i32::try_from(group).ok().and_then(Pid::from_raw)
}

/// A second handle of standard error; nothing if there is none.
fn standard_error() -> Stdio {
    use std::os::fd::AsFd;
    io::stderr()
        .as_fd()
        .try_clone_to_owned()
        .map_or_else(|_| Stdio::null(), Stdio::from)
}
