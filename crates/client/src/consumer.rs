//! Running handlers over a queue.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use leaseline_core::{Error, ErrorKind, MAX_CLAIM, Retry};
use tokio::task::JoinSet;

use crate::delivery::Delivery;
use crate::handling::{Ended, Handled, handle};
use crate::queue::Queue;

/// How long a claim waits before the consumer looks whether it should stop. A claim is never cut
/// short: what it has taken would wait for its lease to expire.
const CLAIM_WAIT: Duration = Duration::from_secs(1);

/// The pause after a claim that failed in a way that may pass.
const FAILURE_PAUSE: Duration = Duration::from_millis(500);

/// What a consumer has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Messages whose handler succeeded and which were acknowledged.
    pub acked: u64,
    /// Messages whose handler failed and which were settled as failed.
    pub failed: u64,
    /// Messages whose handler wants them again later and which were released.
    pub released: u64,
    /// Settlements that came too late: the lease had passed to another claim.
    pub stale: u64,
    /// Messages left to their lease: their handler said so or panicked, their settlement had an
    /// error, or their payload could not be read.
    pub unsettled: u64,
    /// Handlers that run now.
    pub in_flight: u64,
}

type Stop = Pin<Box<dyn Future<Output = ()> + Send>>;
type Observer = Box<dyn Fn(&Progress) + Send>;

/// Claims messages and runs a handler for each.
///
/// The handler returns a `Result<(), impl Display>` or a [`Handled`]. A handler that panics leaves the message to its lease, as a crash would; so does dropping the future of
/// [`run`](Self::run), which cuts running handlers off.
pub struct Consumer {
    queue: Queue,
    concurrency: usize,
    heartbeat: Option<Duration>,
    until_empty: bool,
    limit: Option<u64>,
    stop: Stop,
    observer: Observer,
}

impl Consumer {
    pub(crate) fn new(queue: Queue) -> Self {
        Self {
            queue,
            concurrency: 1,
            heartbeat: None,
            until_empty: false,
            limit: None,
            stop: Box::pin(pending()),
            observer: Box::new(|_| ()),
        }
    }

    /// How many handlers run at once. Default 1.
    pub fn concurrency(mut self, handlers: usize) -> Self {
        self.concurrency = handlers;
        self
    }

    /// Renews the lease of each running handler this often; less than half the visibility
    /// timeout. Default: no renewal.
    pub fn heartbeat(mut self, interval: Option<Duration>) -> Self {
        self.heartbeat = interval;
        self
    }

    /// Ends when nothing is pending and nothing runs here. Leases of others do not count, and
    /// neither do messages that were released and are not due yet.
    pub fn until_empty(mut self, until_empty: bool) -> Self {
        self.until_empty = until_empty;
        self
    }

    /// Never claims more messages than this.
    pub fn limit(mut self, limit: Option<u64>) -> Self {
        self.limit = limit;
        self
    }

    /// Stops claiming when this future is ready; running handlers finish and are settled.
    pub fn stop_when(mut self, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        self.stop = Box::pin(stop);
        self
    }

    /// Told after every change.
    pub fn on_progress(mut self, observer: impl Fn(&Progress) + Send + 'static) -> Self {
        self.observer = Box::new(observer);
        self
    }

    /// Runs until the queue is empty, the limit is reached or the stop future is ready.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`] for settings that cannot work, and claim errors that will not
    /// pass by themselves. Running handlers finish first.
    pub async fn run<H, F>(mut self, handler: H) -> Result<Progress, Error>
    where
        H: Fn(Arc<Delivery>) -> F + Send + Sync + 'static,
        F: Future<Output: Into<Handled>> + Send + 'static,
    {
        self.check()?;
        let handler = Arc::new(handler);
        let mut running = JoinSet::new();
        let mut progress = Progress::default();
        let mut claimed: u64 = 0;
        let ended = loop {
            while let Some(joined) = running.try_join_next() {
                self.count(&mut progress, joined.unwrap_or(Ended::Unsettled));
            }
            let left = self.limit.map_or(u64::MAX, |limit| limit - claimed);
            let free = self.concurrency - running.len();
            let max = u32::try_from(left.min(free as u64))
                .unwrap_or(MAX_CLAIM)
                .min(MAX_CLAIM);
            if left == 0 {
                break Ok(());
            }
            if max == 0 {
                tokio::select! {
                    joined = running.join_next() => {
                        if let Some(joined) = joined {
                            self.count(&mut progress, joined.unwrap_or(Ended::Unsettled));
                        }
                    }
                    () = &mut self.stop => break Ok(()),
                }
                continue;
            }
            if is_ready(&mut self.stop).await {
                break Ok(());
            }
            let wait = if self.until_empty {
                Duration::ZERO
            } else {
                CLAIM_WAIT
            };
            match self.queue.claim(max, wait).await {
                Ok(deliveries) if deliveries.is_empty() => {
                    if self.until_empty {
                        let Some(joined) = running.join_next().await else {
                            break Ok(());
                        };
                        self.count(&mut progress, joined.unwrap_or(Ended::Unsettled));
                    }
                }
                Ok(deliveries) => {
                    for message in deliveries {
                        claimed += 1;
                        match Delivery::new(self.queue.clone(), message) {
                            Ok(delivery) => {
                                progress.in_flight += 1;
                                let heartbeat = self.heartbeat;
                                let handler = Arc::clone(&handler);
                                running.spawn(async move {
                                    handle(&*handler, Arc::new(delivery), heartbeat).await
                                });
                            }
                            Err(error) => {
                                tracing::warn!(%error, "a claimed message cannot be read");
                                progress.unsettled += 1;
                            }
                        }
                    }
                    (self.observer)(&progress);
                }
                Err(error) if error.retry == Retry::No => break Err(error),
                Err(error) => {
                    tracing::warn!(%error, "a claim failed and is tried again");
                    tokio::select! {
                        () = tokio::time::sleep(FAILURE_PAUSE) => {}
                        () = &mut self.stop => break Ok(()),
                    }
                }
            }
        };
        while let Some(joined) = running.join_next().await {
            self.count(&mut progress, joined.unwrap_or(Ended::Unsettled));
        }
        ended.map(|()| progress)
    }

    fn check(&self) -> Result<(), Error> {
        if self.concurrency == 0 {
            return Err(Error::new(
                ErrorKind::Configuration,
                "concurrency is 0; use 1 or more",
            ));
        }
        let Some(interval) = self.heartbeat else {
            return Ok(());
        };
        let Some(timeout) = self.queue.visibility_timeout() else {
            return Err(Error::new(
                ErrorKind::Configuration,
                "a heartbeat needs leases; set a visibility timeout, or remove the heartbeat",
            ));
        };
        if interval.is_zero() || interval >= timeout / 2 {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "the heartbeat of {interval:?} is not below half the visibility timeout of {timeout:?}; shorten it"
                ),
            ));
        }
        Ok(())
    }

    fn count(&self, progress: &mut Progress, ended: Ended) {
        progress.in_flight -= 1;
        match ended {
            Ended::Acked => progress.acked += 1,
            Ended::Failed => progress.failed += 1,
            Ended::Released => progress.released += 1,
            Ended::Stale => progress.stale += 1,
            Ended::Unsettled => progress.unsettled += 1,
        }
        (self.observer)(progress);
    }
}

/// Whether the future is ready now.
async fn is_ready(future: &mut Stop) -> bool {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await
}
