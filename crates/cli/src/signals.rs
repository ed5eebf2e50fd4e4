//! SIGTERM and SIGINT: the first one drains, the second one ends the process.

use std::future::Future;
use std::sync::Arc;

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

    /// At the first signal requests the stop; at the second runs `abandon`, says how messages are
    /// `left` and exits at once.
    pub(crate) fn drive(
        mut self,
        stop: Stop,
        messages: Messages,
        left: &'static str,
        abandon: impl FnOnce() + Send + 'static,
    ) {
        tokio::spawn(async move {
            self.next().await;
            messages.note("stopping: no more claims, running commands may finish; another signal ends this at once");
            stop.request();
            self.next().await;
            abandon();
            messages.note(&format!(
                "stopped at once: messages whose commands ran are {left}"
            ));
            std::process::exit(Status::Failed.code().into());
        });
    }
}
