//! One message in its handler: running it, keeping its lease, settling it.

use std::convert::Infallible;
use std::fmt::Display;
use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leaseline_core::Retry;
use leaseline_core::message::{ReleaseOutcome, RenewOutcome, SettleOutcome};

use tokio::time::Instant;

use crate::Meter;
use crate::delivery::{Delivery, Lost};
use crate::span::Span;

/// What a handler decides. A handler may also return a `Result`: `Ok` is [`Ack`](Self::Ack) and
/// `Err` is [`Fail`](Self::Fail).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handled {
    /// The message is done.
    Ack,
    /// The message failed for good; why, for the log.
    Fail(String),
    /// The message comes back after this time; why is for the handler to log. It counts as
    /// delivered, so a delivery limit ends its retries. On a queue without leases this cannot be
    /// done, and the message stays in processing.
    RetryAfter(Duration),
    /// The message comes back when its lease expires, as if this handler had died.
    Leave,
}

impl<E: Display> From<Result<(), E>> for Handled {
    fn from(result: Result<(), E>) -> Self {
        match result {
            Ok(()) => Self::Ack,
            Err(error) => Self::Fail(error.to_string()),
        }
    }
}

/// How one message ended.
pub(crate) enum Ended {
    Acked,
    Failed,
    Released,
    Stale,
    Unsettled,
}

/// Runs the handler of one message, renews its lease meanwhile, and settles it.
pub(crate) async fn handle<H, F>(handler: &H, delivery: Arc<Delivery>, keeping: Keeping) -> Ended
where
    H: Fn(Arc<Delivery>) -> F,
    F: Future<Output: Into<Handled>>,
{
    let span = Span::handle(&delivery.queue().config().name);
    span.message_id(delivery.message_id());
    span.token(delivery.token());
    span.delivery_count(delivery.delivery_count());
    let ended = span
        .around(keep_and_settle(handler, delivery, keeping))
        .await;
    span.outcome(match ended {
        Ended::Acked => "acked",
        Ended::Failed => "failed",
        Ended::Released => "released",
        Ended::Stale => "stale",
        Ended::Unsettled => "unsettled",
    });
    ended
}

async fn keep_and_settle<H, F>(handler: &H, delivery: Arc<Delivery>, keeping: Keeping) -> Ended
where
    H: Fn(Arc<Delivery>) -> F,
    F: Future<Output: Into<Handled>>,
{
    let over = AtomicBool::new(false);
    let message_id = delivery.message_id();
    tokio::select! {
        biased;
        ended = async {
            let timing = delivery.queue().pool.meter().map(Meter::begin);
            let handled = handler(Arc::clone(&delivery)).await.into();
            if let Some(timing) = timing {
                timing.end(&handled);
            }
            // The lease ends with the settlement: from here on that is no loss.
            over.store(true, Ordering::Relaxed);
            let settled = match handled {
                Handled::Ack => delivery.ack().await.map(|outcome| ended(outcome, Ended::Acked)),
                Handled::Fail(reason) => {
                    tracing::warn!(reason, message_id, "a handler failed");
                    delivery.fail(Some(reason)).await.map(|outcome| ended(outcome, Ended::Failed))
                }
                Handled::RetryAfter(delay) => {
                    delivery.release(delay).await.map(|outcome| match outcome {
                        ReleaseOutcome::Released(_) => Ended::Released,
                        ReleaseOutcome::Stale => Ended::Stale,
                    })
                }
                Handled::Leave => return Ended::Unsettled,
            };
            match settled {
                Ok(Ended::Stale) => {
                    tracing::warn!(message_id, "settled too late: the lease had passed on");
                    Ended::Stale
                }
                Ok(ended) => ended,
                Err(error) => {
                    tracing::warn!(%error, message_id, "a message could not be settled");
                    Ended::Unsettled
                }
            }
        } => ended,
        never = beat(&delivery, keeping, &over) => match never {},
    }
}

/// What a settlement makes of a message: `done`, unless it came too late.
fn ended(outcome: SettleOutcome, done: Ended) -> Ended {
    match outcome {
        SettleOutcome::Done => done,
        SettleOutcome::Stale => Ended::Stale,
    }
}

/// How a lease is kept while its handler runs.
#[derive(Clone, Copy)]
pub(crate) struct Keeping {
    /// Renew it this often.
    pub(crate) interval: Option<Duration>,
    /// And no longer than this.
    pub(crate) until: Option<Instant>,
}

/// Renews until the lease is lost, tells its handler, then waits to be dropped.
async fn beat(delivery: &Delivery, keeping: Keeping, over: &AtomicBool) -> Infallible {
    if let Some(interval) = keeping.interval {
        let lost = tokio::select! {
            () = renew(delivery, interval) => Lost::NotRenewed,
            () = end(keeping.until) => Lost::MaxLeaseTime,
        };
        if !over.load(Ordering::Relaxed) {
            tracing::warn!(
                message_id = delivery.message_id(),
                "{}",
                match lost {
                    Lost::NotRenewed => "the lease is lost while its handler runs",
                    Lost::MaxLeaseTime =>
                        "the lease was held for its longest time, and its handler runs on",
                }
            );
            delivery.lose(lost);
        }
    }
    pending().await
}

/// Renews until the lease is lost; for ever, once it has its last deadline.
async fn renew(delivery: &Delivery, interval: Duration) {
    let last_ms = delivery.lease().not_after_ms;
    loop {
        tokio::time::sleep(interval).await;
        match delivery.renew().await {
            Ok(RenewOutcome::Renewed(until_ms)) if last_ms.is_some_and(|last| until_ms >= last) => {
                pending().await
            }
            Ok(RenewOutcome::Renewed(_)) => {}
            Ok(RenewOutcome::Stale) => return,
            Err(error) if error.retry == Retry::No => return,
            Err(_) => {}
        }
    }
}

async fn end(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => pending().await,
    }
}
