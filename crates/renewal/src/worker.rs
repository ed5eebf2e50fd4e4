//! The worker from outside.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use leaseline_core::Error;
use leaseline_core::renewal::Settings;

use crate::metrics::Metrics;
use crate::shared::Shared;

static GLOBAL: Mutex<Option<Worker>> = Mutex::new(None);

/// Renews leases. Clones are the same worker; it ends with the last of them and of its renewals.
#[derive(Clone)]
pub struct Worker {
    pub(crate) owner: Arc<Owner>,
}

pub(crate) struct Owner {
    pub(crate) shared: Arc<Shared>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        if !self.shared.is_forked() {
            self.shared.closed.store(true, Ordering::Relaxed);
            self.shared.wake.notify_one();
        }
    }
}

impl Worker {
    /// The one of this process. Nothing runs before its first renewal. A process that was forked
    /// off another has one of its own; the renewals of its parent stay there.
    pub fn global() -> Self {
        let mut global = GLOBAL.lock().unwrap_or_else(PoisonError::into_inner);
        match global.take() {
            Some(worker) if !worker.owner.shared.is_forked() => {
                *global = Some(worker.clone());
                return worker;
            }
            // The parent's: not even its end may be noticed here.
            Some(worker) => std::mem::forget(worker),
            None => {}
        }
        let worker = Self {
            owner: Arc::new(Owner {
                shared: Shared::new(Settings::default()),
            }),
        };
        *global = Some(worker.clone());
        worker
    }

    /// One with settings of its own.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`](leaseline_core::ErrorKind::Configuration) for settings that
    /// cannot work.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        settings.validate()?;
        Ok(Self {
            owner: Arc::new(Owner {
                shared: Shared::new(settings),
            }),
        })
    }

    /// Its settings.
    pub fn settings(&self) -> &Settings {
        &self.owner.shared.settings
    }

    /// What it has done so far. In a forked process: nothing.
    pub fn metrics(&self) -> Metrics {
        let shared = &self.owner.shared;
        if shared.is_forked() {
            return Metrics::default();
        }
        let state = shared.state();
        Metrics {
            counts: state.table.counts().clone(),
            requests: state.batches,
            queued: state.commands.len() as u64,
            restarts: shared.restarts.load(Ordering::Relaxed),
        }
    }
}
