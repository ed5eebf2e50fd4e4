//! Makes renewals of one kind of lease.

use std::sync::Arc;

use leaseline_core::Error;

use crate::extend::Extend;
use crate::follow_up::{Extended, follow_up};
use crate::renewal::LeaseRenewal;
use crate::terms::Terms;
use crate::worker::Worker;

/// Renews the leases of one server. Those that are due together go into one request.
pub struct Renewer<E> {
    worker: Worker,
    extender: Arc<E>,
}

impl<E> Clone for Renewer<E> {
    fn clone(&self) -> Self {
        Self {
            worker: self.worker.clone(),
            extender: Arc::clone(&self.extender),
        }
    }
}

impl<E: Extend> Renewer<E> {
    /// With the worker of this process.
    pub fn new(extender: E) -> Self {
        Self::with(Worker::global(), extender)
    }

    /// With the worker of this process and an extender that others have too: what is due together
    /// goes into one request, whichever of them it belongs to.
    pub fn sharing(extender: Arc<E>) -> Self {
        Self {
            worker: Worker::global(),
            extender,
        }
    }

    /// With another one.
    pub fn with(worker: Worker, extender: E) -> Self {
        Self {
            worker,
            extender: Arc::new(extender),
        }
    }

    /// The worker.
    pub fn worker(&self) -> &Worker {
        &self.worker
    }

    /// A renewal of a lease, not started yet.
    pub fn renewal(&self, lease: E::Lease, terms: Terms) -> LeaseRenewal<E> {
        LeaseRenewal::new(
            self.worker.clone(),
            Arc::clone(&self.extender),
            lease,
            terms,
        )
    }

    /// Lets any lease end so many seconds from now, whether it is renewed or not; 0 gives it up.
    /// Sent up to three times while the server cannot be reached.
    ///
    /// # Errors
    ///
    /// Seconds that are no visibility, and refusals: also that there is no such lease, which
    /// [`LeaseRenewal::extend`] takes as an outcome.
    pub async fn extend(&self, lease: &E::Lease, seconds: f64) -> Result<(), Error> {
        let settings = self.worker.settings();
        match follow_up(settings, &*self.extender, lease, seconds).await? {
            Extended::Done => Ok(()),
            Extended::Gone => Err(crate::follow_up::gone()),
        }
    }
}
