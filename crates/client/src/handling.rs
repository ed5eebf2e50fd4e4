//! One message in its handler: running it, keeping its lease, settling it.

use std::fmt::Display;
use std::future::{Future, pending};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leaseline_core::Retry;
use leaseline_core::message::{ReleaseOutcome, RenewOutcome, SettleOutcome};

use crate::delivery::Delivery;

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
pub(crate) async fn handle<H, F>(
    handler: &H,
    delivery: Arc<Delivery>,
    heartbeat: Option<Duration>,
) -> Ended
where
    H: Fn(Arc<Delivery>) -> F,
    F: Future<Output: Into<Handled>>,
{
    let over = AtomicBool::new(false);
    let message_id = delivery.message_id();
    tokio::select! {
        biased;
        ended = async {
            let handled = handler(Arc::clone(&delivery)).await.into();
            // The lease ends with the settlement: from here on that is no loss.
            over.store(true, Ordering::Relaxed);
            let settled = match handled {
                Handled::Ack => delivery.ack().await.map(|outcome| ended(outcome, Ended::Acked)),
                Handled::Fail(reason) => {
                    tracing::warn!(reason, message_id, "a handler failed");
                    delivery.fail().await.map(|outcome| ended(outcome, Ended::Failed))
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
        never = beat(&delivery, heartbeat, &over) => match never {},
    }
}

/// What a settlement makes of a message: `done`, unless it came too late.
fn ended(outcome: SettleOutcome, done: Ended) -> Ended {
    match outcome {
        SettleOutcome::Done => done,
        SettleOutcome::Stale => Ended::Stale,
    }
}

/// Renews until the lease is lost, then waits to be dropped.
async fn beat(
    delivery: &Delivery,
    interval: Option<Duration>,
    over: &AtomicBool,
) -> std::convert::Infallible {
    if let Some(interval) = interval {
        loop {
            tokio::time::sleep(interval).await;
            match delivery.renew().await {
                Ok(RenewOutcome::Renewed(_)) => {}
                Ok(RenewOutcome::Stale) => break,
                Err(error) if error.retry == Retry::No => break,
                Err(_) => {}
            }
        }
        if !over.load(Ordering::Relaxed) {
            tracing::warn!(
                message_id = delivery.message_id(),
                "the lease is lost while its handler runs"
            );
        }
    }
    pending().await
}
