//! How a program extends its own kind of lease.

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use leaseline_core::renewal::{Failure, Outcome};

/// Extends leases of one kind at one server.
///
/// Requests are made once, without retries: the worker has a schedule of its own. Dropping the
/// future of a request cancels it.
pub trait Extend: Send + Sync + 'static {
    /// What names a lease to the server.
    type Lease: Send + Sync + 'static;

    /// Lets a lease end `lease_time` from now, by the server's clock; zero gives it up.
    fn extend(
        &self,
        lease: &Self::Lease,
        lease_time: Duration,
    ) -> impl Future<Output = Outcome> + Send;

    /// Does it for many that are due together, with one outcome for each, in order.
    fn extend_batch(
        &self,
        leases: &[(Arc<Self::Lease>, Duration)],
    ) -> impl Future<Output = Vec<Outcome>> + Send {
        async move {
            let mut outcomes = Vec::with_capacity(leases.len());
            for (lease, lease_time) in leases {
                outcomes.push(self.extend(lease, *lease_time).await);
            }
            outcomes
        }
    }

    /// How many leases one request takes. By default 1: each has a request of its own, and a slow
    /// one delays no other.
    fn max_batch(&self) -> usize {
        1
    }

    /// Whether requests end by themselves in bounded time. Others the worker ends after
    /// [`Settings::attempt_timeout_ms`](leaseline_core::renewal::Settings::attempt_timeout_ms).
    fn ends_by_itself(&self) -> bool {
        false
    }
}

/// A lease of whatever kind.
pub(crate) type AnyLease = Arc<dyn Any + Send + Sync>;

/// Leases whose kind is known to itself only.
pub(crate) trait Group: Send + Sync {
    fn max_batch(&self) -> usize;
    fn ends_by_itself(&self) -> bool;
    fn extend_any(
        self: Arc<Self>,
        leases: Vec<(AnyLease, Duration)>,
    ) -> Pin<Box<dyn Future<Output = Vec<Outcome>> + Send>>;
}

impl<E: Extend> Group for E {
    fn max_batch(&self) -> usize {
        Extend::max_batch(self).max(1)
    }

    fn ends_by_itself(&self) -> bool {
        Extend::ends_by_itself(self)
    }

    fn extend_any(
        self: Arc<Self>,
        leases: Vec<(AnyLease, Duration)>,
    ) -> Pin<Box<dyn Future<Output = Vec<Outcome>> + Send>> {
        Box::pin(async move {
            let count = leases.len();
            let leases: Vec<(Arc<E::Lease>, Duration)> = leases
                .into_iter()
                .filter_map(|(lease, time)| Some((lease.downcast().ok()?, time)))
                .collect();
            let mut outcomes = match &leases[..] {
                [(lease, time)] => vec![self.extend(lease, *time).await],
                leases => self.extend_batch(leases).await,
            };
            // An answer too few is a defect of the program, and no reason to lose a lease.
            outcomes.resize(count, Err(Failure::Unexpected));
            outcomes
        })
    }
}
