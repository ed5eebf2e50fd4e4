//! Renewing the leases of running handlers, many in one call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leaseline_core::message::{Lease, RenewOutcome};
use leaseline_core::{Error, Retry};
use leaseline_renewal::{Extend, Failure, LeaseRenewal, Outcome, Renewer, Terms};

use crate::delivery::Delivery;
use crate::pool::Tries;
use crate::queue::{MAX_BATCH, Queue};

/// The part of the interval by which a heartbeat may come earlier, to go with others.
const EARLY: u32 = 10;

/// The leases of one queue.
pub(crate) struct Heartbeats(pub(crate) Queue);

/// A lease that a handler works under.
pub(crate) struct Heart {
    lease: Lease,
    /// It has its last deadline.
    last: AtomicBool,
}

/// Begins to renew the lease of a delivery.
pub(crate) async fn begin(
    renewer: &Renewer<Heartbeats>,
    delivery: &Delivery,
    interval: Duration,
) -> Result<LeaseRenewal<Heartbeats>, Error> {
    let timeout = delivery.queue().visibility_timeout().unwrap_or(interval);
    let terms = Terms::exactly(timeout)
        .every(interval)
        .early(interval / EARLY);
    let heart = Heart {
        lease: delivery.lease().clone(),
        last: AtomicBool::new(false),
    };
    let renewal = renewer.renewal(heart, terms);
    renewal.start().await?;
    Ok(renewal)
}

impl Heartbeats {
    /// A lease lasts as long as its queue says.
    async fn renew(&self, hearts: &[&Heart]) -> Vec<Outcome> {
        let done: Vec<bool> = hearts
            .iter()
            .map(|heart| heart.last.load(Ordering::Relaxed))
            .collect();
        let leases = hearts
            .iter()
            .zip(&done)
            .filter(|(_, done)| !**done)
            .map(|(heart, _)| heart.lease.clone())
            .collect();
        let mut renewed = self.0.renew_trying(Tries::Once, leases).await.into_iter();
        let outcomes = hearts.iter().zip(done).map(|(heart, done)| {
            if done {
                return Ok(());
            }
            match renewed.next() {
                Some(Ok(RenewOutcome::Renewed(until_ms))) => {
                    let last = heart.lease.not_after_ms;
                    if last.is_some_and(|last| until_ms >= last) {
                        heart.last.store(true, Ordering::Relaxed);
                    }
                    Ok(())
                }
                Some(Ok(RenewOutcome::Stale)) => Err(Failure::Refused),
                Some(Err(error)) if error.retry == Retry::No => Err(Failure::Refused),
                Some(Err(_)) => Err(Failure::Transient),
                None => Err(Failure::Unexpected),
            }
        });
        outcomes.collect()
    }
}

impl Extend for Heartbeats {
    type Lease = Heart;

    async fn extend(&self, heart: &Heart, _: Duration) -> Outcome {
        let outcome = self.renew(&[heart]).await.pop();
        outcome.unwrap_or(Err(Failure::Unexpected))
    }

    async fn extend_batch(&self, hearts: &[(Arc<Heart>, Duration)]) -> Vec<Outcome> {
        let hearts: Vec<&Heart> = hearts.iter().map(|(heart, _)| &**heart).collect();
        self.renew(&hearts).await
    }

    fn max_batch(&self) -> usize {
        MAX_BATCH
    }

    /// A call of a queue goes on even if it is dropped. It is tried once: the worker decides what is
    /// sent again, since it knows which renewals were stopped meanwhile.
    fn ends_by_itself(&self) -> bool {
        true
    }
}
