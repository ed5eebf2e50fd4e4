//! The worker from outside.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use leaseline_core::Error;
use leaseline_core::renewal::Settings;

use crate::metrics::Metrics;
use crate::schedule::Schedule;
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

    /// One whose decisions another table makes, which must have the same settings.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_schedule(settings: Settings, schedule: impl Schedule) -> Result<Self, Error> {
        settings.validate()?;
        Ok(Self {
            owner: Arc::new(Owner {
                shared: Shared::deciding(settings, Box::new(schedule)),
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
        let mut state = shared.state();
        Metrics {
            counts: state.table.counts(),
            requests: state.batches,
            queued: state.commands.len() as u64,
            restarts: shared.restarts.load(Ordering::Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use leaseline_core::ErrorKind;

    use super::*;
    use crate::{Extend, Outcome, Renewer, Stopped, Terms};

    struct Server;

    impl Extend for Server {
        type Lease = ();
        async fn extend(&self, (): &(), _: Duration) -> Outcome {
            Ok(())
        }
    }

    /// As in a process that was forked off the one that made it.
    fn forked(worker: &Worker) {
        let other = std::process::id().wrapping_add(1);
        worker.owner.shared.process.store(other, Ordering::Relaxed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_fork_touches_nothing_of_its_parent() {
        let worker = Worker::new(Settings::default()).unwrap();
        let renewer = Renewer::with(worker.clone(), Server);
        let terms = || Terms::of_seconds(Some(30.0)).unwrap();
        let (running, fresh) = (renewer.renewal((), terms()), renewer.renewal((), terms()));
        running.start().await.unwrap();
        forked(&worker);
        let error = fresh.start().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Configuration);
        assert_eq!(running.stop().await, Ok(Stopped::Done));
        drop(running);
        assert_eq!(worker.metrics(), Metrics::default());
        // The parent goes on: neither stop has reached it.
        let here = std::process::id();
        worker.owner.shared.process.store(here, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(10)).await;
        assert_eq!(worker.metrics().counts.active, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_fork_has_a_worker_of_its_own() {
        let parent = Worker::global();
        assert!(Arc::ptr_eq(&parent.owner, &Worker::global().owner));
        forked(&parent);
        let child = Worker::global();
        assert!(!Arc::ptr_eq(&parent.owner, &child.owner));
        assert!(Arc::ptr_eq(&child.owner, &Worker::global().owner));
        let renewal = Renewer::new(Server).renewal((), Terms::of_seconds(None).unwrap());
        renewal.start().await.unwrap();
        assert_eq!(child.metrics().counts.active, 1);
    }
}
