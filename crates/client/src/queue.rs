//! The queue object of a Rust program.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leaseline_core::event::EventBatch;
use leaseline_core::message::{
    Delivery, Lease, List, Outgoing, Peeked, PublishOutcome, PublishReply, ReleaseOutcome,
    ReleaseRequest, RenewOutcome, SettleOutcome, SettleRequest, Settlement, Stats,
};
use leaseline_core::{Config, Error, ErrorKind};

use crate::builder::Builder;
use crate::consumer::Consumer;
use crate::heartbeat::Heartbeats;
use crate::instance::Instance;
use crate::outgoing::Message;
use crate::pool::{Pool, Tries, Work};
use crate::span::Span;
use crate::waking::Idle;

/// A queue. Clones share it; its calls may run at once.
///
/// A call runs to its end even when its future is dropped: what a dropped claim got is handed to
/// the next one.
#[derive(Clone)]
pub struct Queue {
    pub(crate) pool: Arc<Pool>,
    pub(crate) idle: Arc<Idle>,
    config: Arc<Config>,
}

impl Queue {
    /// Starts the configuration of the queue `name`.
    pub fn builder(name: impl Into<String>) -> Builder {
        Builder::new(name.into())
    }

    pub(crate) fn new(pool: Arc<Pool>, idle: Idle, config: Config) -> Self {
        Self {
            pool,
            idle: Arc::new(idle),
            config: Arc::new(config),
        }
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// A consumer of this queue.
    pub fn consumer(&self) -> Consumer {
        Consumer::new(self.clone())
    }

    /// The leases of this queue object, which all its consumers renew together.
    pub(crate) fn heartbeats(&self) -> Arc<Heartbeats> {
        self.pool.heartbeats(|| Heartbeats(self.clone()))
    }

    /// Publishes one message.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutcomeUnknown`] and [`ErrorKind::Protocol`]: it may be in the queue. Every
    /// other kind: it is not.
    pub async fn publish(&self, message: impl Into<Message>) -> Result<PublishOutcome, Error> {
        only(
            self.publish_all(vec![message.into().into()])
                .await
                .into_iter()
                .map(|reply| reply.outcome),
        )
    }

    /// Publishes messages in order. One reply for each; a failed one does not stop the others. The
    /// reply of a message that no engine took has an empty id.
    pub async fn publish_all(&self, messages: Vec<Outgoing>) -> Vec<PublishReply> {
        let span = Span::publish(&self.config.name);
        let replies = span.around(self.publish_batches(messages)).await;
        span.messages(replies.len());
        if let [reply] = &replies[..] {
            span.message_id(Some(&reply.message_id));
        }
        span.outcomes(replies.iter().map(|reply| match &reply.outcome {
            Ok(PublishOutcome::Published) => Ok("published"),
            Ok(PublishOutcome::Duplicate) => Ok("duplicate"),
            Err(error) => Err(error),
        }));
        replies
    }

    async fn publish_batches(&self, messages: Vec<Outgoing>) -> Vec<PublishReply> {
        let mut replies = Vec::with_capacity(messages.len());
        // At once, while a drain holds all slots.
        if self.pool.is_drained() {
            let refused = PublishReply {
                message_id: String::new(),
                outcome: Err(drained()),
            };
            return vec![refused; messages.len()];
        }
        for messages in batches(messages, |message| message.payload.as_bytes().len()) {
            let count = messages.len();
            let pool = Arc::clone(&self.pool);
            let work = self.pool.run(
                move |instance| {
                    Box::pin(async move {
                        // And here, where a drain waits for it: one that has ended must not be
                        // followed by a publish that began before it.
                        match pool.is_drained() {
                            true => Err(drained()),
                            false => instance.publish(&messages).await,
                        }
                    })
                },
                |_, _| (),
            );
            replies.extend(work.await.unwrap_or_else(|error| {
                vec![
                    PublishReply {
                        message_id: String::new(),
                        outcome: Err(error)
                    };
                    count
                ]
            }));
        }
        replies
    }

    /// Settles leases, each on its own.
    pub async fn settle(&self, requests: Vec<SettleRequest>) -> Vec<Result<SettleOutcome, Error>> {
        let span = Span::settle(&self.config.name);
        span.lease(requests.iter().map(|request| &request.lease));
        let settled: fn(&SettleRequest) -> &'static str = |request| match request.settlement {
            Settlement::Ack => "acked",
            Settlement::Fail => "failed",
        };
        let done: Vec<_> = requests.iter().map(settled).collect();
        let size = |request: &SettleRequest| request.lease.stored.len();
        let work = self.each(
            Tries::UntilTheBudget,
            requests,
            size,
            |instance, requests| Box::pin(instance.settle(requests)),
        );
        let outcomes = span.around(work).await;
        span.outcomes(outcomes.iter().zip(done).map(|(outcome, done)| {
            outcome.as_ref().map(|outcome| match outcome {
                SettleOutcome::Done => done,
                SettleOutcome::Stale => "stale",
            })
        }));
        outcomes
    }

    /// Moves the deadlines of leases to now plus the visibility timeout.
    pub async fn renew(&self, leases: Vec<Lease>) -> Vec<Result<RenewOutcome, Error>> {
        self.renew_trying(Tries::UntilTheBudget, leases).await
    }

    pub(crate) async fn renew_trying(
        &self,
        tries: Tries,
        leases: Vec<Lease>,
    ) -> Vec<Result<RenewOutcome, Error>> {
        let span = Span::renew(&self.config.name);
        span.lease(leases.iter());
        let size = |lease: &Lease| lease.stored.len();
        let work = self.each(tries, leases, size, |instance, leases| {
            Box::pin(instance.renew(leases))
        });
        let outcomes = span.around(work).await;
        span.outcomes(outcomes.iter().map(|outcome| {
            outcome.as_ref().map(|outcome| match outcome {
                RenewOutcome::Renewed(_) => "renewed",
                RenewOutcome::Stale => "stale",
            })
        }));
        outcomes
    }

    /// Gives leases up, each on its own: nobody can claim the message before its delay is over by
    /// the server's clock. It keeps its delivery count, and counts as delivered. Whoever held the
    /// lease is refused from now on.
    pub async fn release(
        &self,
        requests: Vec<ReleaseRequest>,
    ) -> Vec<Result<ReleaseOutcome, Error>> {
        let span = Span::release(&self.config.name);
        span.lease(requests.iter().map(|request| &request.lease));
        let size = |request: &ReleaseRequest| request.lease.stored.len();
        let work = self.each(
            Tries::UntilTheBudget,
            requests,
            size,
            |instance, requests| Box::pin(instance.release(requests)),
        );
        let outcomes = span.around(work).await;
        span.outcomes(outcomes.iter().map(|outcome| {
            outcome.as_ref().map(|outcome| match outcome {
                ReleaseOutcome::Released(_) => "released",
                ReleaseOutcome::Stale => "stale",
            })
        }));
        outcomes
    }

    /// Makes a call for each item, in batches that an instance can take.
    async fn each<I, O>(
        &self,
        tries: Tries,
        items: Vec<I>,
        size: fn(&I) -> usize,
        call: for<'a> fn(&'a mut Instance, &'a [I]) -> Work<'a, Outcomes<O>>,
    ) -> Outcomes<O>
    where
        I: Send + Sync + 'static,
        O: Clone + Send + 'static,
    {
        let mut outcomes = Vec::with_capacity(items.len());
        for batch in batches(items, size) {
            let count = batch.len();
            // Nothing is sent later than whoever decides about the tries knows of.
            if tries == Tries::Once
                && let Some(failed @ Err(_)) = outcomes.last().cloned()
            {
                outcomes.extend(vec![failed; count]);
                continue;
            }
            let work = self.pool.run_trying(
                tries,
                move |instance| Box::pin(async move { call(instance, &batch).await }),
                |_, _| (),
            );
            outcomes.extend(work.await.unwrap_or_else(|error| vec![Err(error); count]));
        }
        outcomes
    }

    /// How many messages are where.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Server`] if one of the keys holds another type.
    pub async fn stats(&self) -> Result<Stats, Error> {
        self.pool
            .run(|instance| Box::pin(instance.stats()), |_, _| ())
            .await
    }

    /// The newest messages of a list, newest first, all as they are at one moment. At most `max`
    /// (1 to [`leaseline_core::MAX_PEEK`]), and fewer where together they are very large.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Server`] if one of the keys holds another type.
    pub async fn peek(&self, list: List, max: u32) -> Result<Vec<Peeked>, Error> {
        self.pool
            .run(
                move |instance| Box::pin(instance.peek(list, max)),
                |_, _| (),
            )
            .await
    }

    /// Removes what is in a list for good, oldest first, and gives the number removed: as many as
    /// were there when it began. Deduplication keys stay.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] for [`List::Processing`]. After another failure some may
    /// have been removed; call again for the rest.
    pub async fn purge(&self, list: List) -> Result<u64, Error> {
        self.pool
            .run(move |instance| Box::pin(instance.purge(list)), |_, _| ())
            .await
    }

    /// Moves at most `max` dead letters, oldest first, back to pending. Gives the number moved.
    ///
    /// # Errors
    ///
    /// After a failure some may have been moved; call again for the rest.
    pub async fn redrive(&self, max: u64) -> Result<u64, Error> {
        self.pool
            .run(move |instance| Box::pin(instance.redrive(max)), |_, _| ())
            .await
    }

    /// Refuses further publishes and claims on this object and its clones (a claim still hands
    /// out what a dropped one had taken), ends the claims that sleep, waits for the calls that run,
    /// and resolves open claims. False: not done within `timeout`; call again. If the whole queue
    /// is idle, tokens start again at 1 afterwards.
    ///
    /// It does not wait for handlers: they may call it, and so may several callers at once. A
    /// [`Consumer`] of the queue ends when its handlers have finished.
    ///
    /// # Errors
    ///
    /// A failure that will not pass by itself.
    pub async fn drain(&self, timeout: Duration) -> Result<bool, Error> {
        let span = Span::drain(&self.config.name);
        let drained = span.around(self.pool.drain(timeout)).await;
        span.outcomes([drained.as_ref().map(|drained| match drained {
            true => "drained",
            false => "unfinished",
        })]);
        drained
    }

    /// Claims once, without waiting.
    pub(crate) async fn claim_now(&self, max: u32) -> Result<Vec<Delivery>, Error> {
        let span = Span::claim(&self.config.name);
        let claimed = span.around(self.pool.claim(max)).await;
        if let Ok(deliveries) = &claimed {
            span.lease(deliveries.iter().map(|delivery| &delivery.lease));
            if let [delivery] = &deliveries[..] {
                span.delivery_count(delivery.delivery_count);
            }
        }
        span.outcomes([claimed.as_ref().map(|claimed| match claimed.is_empty() {
            true => "empty",
            false => "claimed",
        })]);
        claimed
    }

    /// Sets the [sampled gauges](crate::metrics) every so often, at once for the first time, until
    /// the queue object is drained. Costs one command each time. For a task of its own, in one
    /// process for each queue.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`] for an interval of zero and for a queue that was opened
    /// without [`Builder::metrics`]. A sample that fails is only counted.
    #[cfg(feature = "metrics")]
    pub async fn sample_metrics(self, every: Duration) -> Result<(), Error> {
        let Some(meter) = self.pool.meter() else {
            return Err(Error::new(
                ErrorKind::Configuration,
                "this queue tells no metrics; call metrics() on its builder before it is opened",
            ));
        };
        if every.is_zero() {
            return Err(Error::new(
                ErrorKind::Configuration,
                "metrics cannot be sampled every 0 s; use a second or more",
            ));
        }
        while !self.is_drained() {
            meter.sample_handlers();
            match self.stats().await {
                Ok(stats) => meter.sample(&stats),
                Err(error) => {
                    tracing::debug!(%error, "a sample of metrics failed");
                    meter.sample_failed();
                }
            }
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = self.pool.drained() => {}
            }
        }
        Ok(())
    }

    /// Takes the events of finished calls: of one call in order, of calls that ran at once in any
    /// order.
    pub async fn take_events(&self) -> EventBatch {
        self.pool.take_events().await
    }

    /// Whether a drain has begun: publishes and claims are refused.
    pub fn is_drained(&self) -> bool {
        self.pool.is_drained()
    }

    pub(crate) fn visibility_timeout(&self) -> Option<Duration> {
        self.config.visibility_timeout_ms.map(Duration::from_millis)
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("name", &self.config.name)
            .finish_non_exhaustive()
    }
}

/// The answers to the items of a call, in their order.
type Outcomes<T> = Vec<Result<T, Error>>;

/// A batch for an instance takes no further item once it has this many bytes: a component has
/// limited memory, and escaped text can need six times its size.
const MAX_BATCH_BYTES: usize = 2 * 1024 * 1024;

/// A batch for an instance takes at most this many items.
pub(crate) const MAX_BATCH: usize = 1_000;

/// Items in order, in batches that an instance can take.
fn batches<T>(items: Vec<T>, size: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut batches: Vec<Vec<T>> = Vec::new();
    let mut bytes = MAX_BATCH_BYTES;
    for item in items {
        let full = batches.last().is_none_or(|batch| batch.len() == MAX_BATCH);
        if full || bytes >= MAX_BATCH_BYTES {
            batches.push(Vec::new());
            bytes = 0;
        }
        bytes += size(&item);
        if let Some(batch) = batches.last_mut() {
            batch.push(item);
        }
    }
    batches
}

/// The answer of a batch of one.
pub(crate) fn only<T>(answers: impl IntoIterator<Item = Result<T, Error>>) -> Result<T, Error> {
    answers.into_iter().next().unwrap_or_else(|| {
        Err(Error::new(
            ErrorKind::Protocol,
            "the engine answered fewer items than it was asked",
        ))
    })
}

fn drained() -> Error {
    Error::new(
        ErrorKind::Drained,
        "the queue object is drained; open a new one to publish",
    )
}
