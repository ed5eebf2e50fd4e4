//! Running handlers over a queue.

use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use leaseline_core::{Error, ErrorKind, MAX_CLAIM, Retry};
use leaseline_renewal::Renewer;
use tokio::task::{JoinError, JoinSet};

use crate::claiming::FAILURE_PAUSE;
use crate::delivery::Delivery;
use crate::handling::{Ended, Handled, Keeping, handle};
use crate::queue::Queue;

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

/// The request to stop, which may be asked for again once it was made.
struct Stop {
    request: Pin<Box<dyn Future<Output = ()> + Send>>,
    made: bool,
}

impl Stop {
    fn new(request: impl Future<Output = ()> + Send + 'static) -> Self {
        Self {
            request: Box::pin(request),
            made: false,
        }
    }

    /// Waits for it.
    async fn requested(&mut self) {
        if !self.made {
            self.request.as_mut().await;
            self.made = true;
        }
    }

    /// Whether it was made by now.
    async fn is_requested(&mut self) -> bool {
        let mut requested = pin!(self.requested());
        poll_fn(|context| Poll::Ready(requested.as_mut().poll(context).is_ready())).await
    }
}

type Observer = Box<dyn Fn(&Progress) + Send>;

/// Claims messages and runs a handler for each.
///
/// The handler returns a `Result<(), impl Display>` or a [`Handled`]. A handler that panics leaves the message to its lease, as a crash would; so does dropping the future of
/// [`run`](Self::run), which cuts running handlers off.
pub struct Consumer {
    queue: Queue,
    concurrency: usize,
    heartbeat: Option<Duration>,
    max_lease_time: Option<Duration>,
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
            max_lease_time: None,
            until_empty: false,
            limit: None,
            stop: Stop::new(pending()),
            observer: Box::new(|_| ()),
        }
    }

    /// How many handlers run at once. Default 1.
    pub fn concurrency(mut self, handlers: usize) -> Self {
        self.concurrency = handlers;
        self
    }

    /// Renews the lease of each running handler this often, or up to a tenth earlier together with
    /// those of other handlers, also of other consumers of this queue object and its clones, in one
    /// call; less than half the visibility timeout. Default: no renewal.
    pub fn heartbeat(mut self, interval: Option<Duration>) -> Self {
        self.heartbeat = interval;
        self
    }

    /// The longest time for which heartbeats hold a lease, counted from the claim by the server's
    /// clock; at least the visibility timeout. No renewal reaches beyond it. When it is over the
    /// handler is told by [`Delivery::lease_lost`], and the message comes back by its lease.
    /// (After a claim whose reply was lost or whose caller had gone, it counts from the answer that
    /// arrived.) Default: no limit.
    pub fn max_lease_time(mut self, longest: Option<Duration>) -> Self {
        self.max_lease_time = longest;
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
        self.stop = Stop::new(stop);
        self
    }

    /// Told after every change.
    pub fn on_progress(mut self, observer: impl Fn(&Progress) + Send + 'static) -> Self {
        self.observer = Box::new(observer);
        self
    }

    /// Runs until the queue is empty, the limit is reached, the stop future is ready or the queue
    /// object is drained.
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
        let heartbeat = self.heartbeat.map(|interval| {
            let renewer = Renewer::sharing(self.queue.heartbeats());
            (renewer, interval)
        });
        let mut running = Running {
            handlers: JoinSet::new(),
            progress: Progress::default(),
            observer: self.observer,
        };
        let mut left = self.limit.unwrap_or(u64::MAX);
        let ended = loop {
            running.count_finished();
            if left == 0 || self.stop.is_requested().await || self.queue.is_drained() {
                break Ok(());
            }
            let free = self.concurrency - running.handlers.len();
            let max = u32::try_from(left.min(free as u64))
                .unwrap_or(MAX_CLAIM)
                .min(MAX_CLAIM);
            if max == 0 {
                running.until_one_ends(self.stop.requested()).await;
                continue;
            }
            let claimed = if self.until_empty {
                self.queue.claim(max, Duration::ZERO).await.map(Some)
            } else {
                let claim = self.queue.claim_until(max, self.stop.requested());
                running.count_until(claim).await
            };
            match claimed {
                Ok(None) => {}
                Ok(Some(deliveries)) if deliveries.is_empty() => {
                    if running.handlers.is_empty() {
                        break Ok(());
                    }
                    running.until_one_ends(pending()).await;
                }
                Ok(Some(deliveries)) => {
                    left -= deliveries.len() as u64;
                    for message in deliveries {
                        match Delivery::new(self.queue.clone(), message) {
                            Ok(mut delivery) => {
                                running.progress.in_flight += 1;
                                let keeping = Keeping {
                                    heartbeat: heartbeat.clone(),
                                    until: self
                                        .max_lease_time
                                        .and_then(|longest| delivery.cap_lease(longest)),
                                };
                                let handler = Arc::clone(&handler);
                                running.handlers.spawn(async move {
                                    handle(&*handler, Arc::new(delivery), keeping).await
                                });
                            }
                            Err(error) => {
                                tracing::warn!(%error, "a claimed message cannot be read");
                                running.progress.unsettled += 1;
                            }
                        }
                    }
                    (running.observer)(&running.progress);
                }
                Err(error) if error.retry == Retry::No => break Err(error),
                Err(error) => {
                    tracing::warn!(%error, "a claim failed and is tried again");
                    tokio::select! {
                        () = tokio::time::sleep(FAILURE_PAUSE) => {}
                        () = self.stop.requested() => {}
                    }
                }
            }
        };
        while !running.handlers.is_empty() {
            running.until_one_ends(pending()).await;
        }
        ended.map(|()| running.progress)
    }

    fn check(&self) -> Result<(), Error> {
        if self.concurrency == 0 {
            return Err(Error::new(
                ErrorKind::Configuration,
                "concurrency is 0; use 1 or more",
            ));
        }
        let Some(interval) = self.heartbeat else {
            if self.max_lease_time.is_some() {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    "max_lease_time limits heartbeats, and there are none; set a heartbeat, or remove the limit",
                ));
            }
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
        if let Some(longest) = self.max_lease_time
            && longest < timeout
        {
            return Err(Error::new(
                ErrorKind::Configuration,
                format!(
                    "max_lease_time of {longest:?} is below the visibility timeout of {timeout:?}, which every claim holds; lengthen it, or shorten the visibility timeout"
                ),
            ));
        }
        Ok(())
    }
}

/// The handlers that run, and what has become of the others.
struct Running {
    handlers: JoinSet<Ended>,
    progress: Progress,
    observer: Observer,
}

impl Running {
    /// Waits until a handler ends, or until `over`.
    async fn until_one_ends(&mut self, over: impl Future<Output = ()>) {
        tokio::select! {
            Some(joined) = self.handlers.join_next() => self.count(joined),
            () = over => {}
        }
    }

    /// Waits for `work` and counts the handlers that end meanwhile.
    async fn count_until<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                Some(joined) = self.handlers.join_next() => self.count(joined),
            }
        }
    }

    fn count_finished(&mut self) {
        while let Some(joined) = self.handlers.try_join_next() {
            self.count(joined);
        }
    }

    fn count(&mut self, joined: Result<Ended, JoinError>) {
        let progress = &mut self.progress;
        progress.in_flight -= 1;
        // One that panicked settled nothing.
        match joined.unwrap_or(Ended::Unsettled) {
            Ended::Acked => progress.acked += 1,
            Ended::Failed => progress.failed += 1,
            Ended::Released => progress.released += 1,
            Ended::Stale => progress.stale += 1,
            Ended::Unsettled => progress.unsettled += 1,
        }
        (self.observer)(progress);
    }
}
