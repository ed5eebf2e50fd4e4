//! SIGTERM and SIGINT: the first one drains, for as long as it may, the second one ends the
//! process.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

use crate::failure::Failure;
use crate::messages::Messages;
use crate::status::Status;

/// A request to stop, from a signal or from within. Clones make the same request.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<Notify>);

impl Stop {
    /// Asks for it.
    pub(crate) fn request(&self) {
        self.0.notify_one();
    }

    /// Is ready once it was asked for. For one waiter.
    pub(crate) fn requested(&self) -> impl Future<Output = ()> + Send + 'static {
        let notify = Arc::clone(&self.0);
        async move { notify.notified().await }
    }
}

/// The signals that end a worker.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on those signals do nothing by themselves.
    pub(crate) fn catch() -> Result<Self, Failure> {
        let catch = |kind| {
            signal(kind).map_err(|error| Failure::io(format!("cannot catch signals: {error}")))
        };
        Ok(Self {
            terminate: catch(SignalKind::terminate())?,
            interrupt: catch(SignalKind::interrupt())?,
        })
    }

    /// Waits for one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    /// At the first signal requests `stop`, and `overdue` when the time for running commands is
    /// over; at the second runs `abandon`, says how messages are `left` and exits at once.
    pub(crate) fn drive(mut self, drain: Drain, abandon: impl FnOnce() + Send + 'static) {
        tokio::spawn(async move {
            self.next().await;
            drain.messages.note("stopping: no more claims, running commands may finish; another signal ends this at once");
            drain.stop.request();
            tokio::select! {
                () = self.next() => {}
                () = drain.over() => {
                    drain.overdue.request();
                    self.next().await;
                }
            }
            abandon();
            drain.messages.note(&format!(
                "stopped at once: messages whose commands ran are {}",
                drain.left
            ));
            std::process::exit(Status::Failed.code().into());
        });
    }
}

/// How a worker ends after a signal.
pub(crate) struct Drain {
    /// No more claims.
    pub(crate) stop: Stop,
    /// Running commands had their time.
    pub(crate) overdue: Stop,
    /// That time; absent: as long as they take.
    pub(crate) timeout: Option<Duration>,
    pub(crate) messages: Messages,
    /// What becomes of messages whose commands are ended, in words.
    pub(crate) left: &'static str,
}

impl Drain {
    async fn over(&self) {
        match self.timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    }
}
