//! One message in its handler: running it, keeping its lease, settling it.

use std::convert::Infallible;
use std::fmt::Display;
use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leaseline_core::message::{ReleaseOutcome, SettleOutcome};
use leaseline_renewal::{LeaseRenewal, Renewer};

use tokio::time::Instant;

use crate::Meter;
use crate::delivery::{Delivery, Lost};
use crate::heartbeat::{Heartbeats, begin};
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
    let renewal = match &keeping.heartbeat {
        Some((renewer, interval)) => match begin(renewer, &delivery, *interval).await {
            Ok(renewal) => Some(renewal),
            // Nobody would keep its lease, so the handler is not run.
            Err(error) => {
                tracing::warn!(%error, message_id, "the heartbeat of a message did not start");
                return Ended::Unsettled;
            }
        },
        None => None,
    };
    let renewal = renewal.as_ref();
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
                    stop(renewal).await;
                    delivery.release(delay).await.map(|outcome| match outcome {
                        ReleaseOutcome::Released(_) => Ended::Released,
                        ReleaseOutcome::Stale => Ended::Stale,
                    })
                }
                Handled::Leave => {
                    stop(renewal).await;
                    return Ended::Unsettled;
                }
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
        never = watch(&delivery, renewal, keeping.until, &over) => match never {},
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
#[derive(Clone)]
pub(crate) struct Keeping {
    /// Renew it this often, with those of the other handlers.
    pub(crate) heartbeat: Option<(Renewer<Heartbeats>, Duration)>,
    /// And no longer than this.
    pub(crate) until: Option<Instant>,
}

/// Waits until the lease is lost, tells its handler, then waits to be dropped.
async fn watch(
    delivery: &Delivery,
    renewal: Option<&LeaseRenewal<Heartbeats>>,
    until: Option<Instant>,
    over: &AtomicBool,
) -> Infallible {
    if let Some(renewal) = renewal {
        let lost = tokio::select! {
            _ = renewal.lost() => Lost::NotRenewed,
            () = end(until) => Lost::MaxLeaseTime,
        };
        renewal.stop_soon();
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

/// Before a message is given back or left: no late renewal may lengthen what it has.
async fn stop(renewal: Option<&LeaseRenewal<Heartbeats>>) {
    if let Some(renewal) = renewal
        && let Err(error) = renewal.stop().await
    {
        tracing::warn!(%error, "a heartbeat was not stopped in time");
        renewal.stop_soon();
    }
}

async fn end(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => pending().await,
    }
}
