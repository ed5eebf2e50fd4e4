//! The renewal of one lease, in the hands of its owner.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leaseline_core::renewal::{Handle, Lost, StopStep, Token};
use leaseline_core::{Error, ErrorKind};

use crate::command::{Command, Entry};
use crate::extend::{AnyLease, Extend, Group};
use crate::follow_up::{Extended, follow_up};
use crate::notice::{Callback, Notice, REGISTERED, STOPPED, STOPPED_BEFORE, TIMED_OUT};
use crate::shared::Shared;
use crate::terms::Terms;
use crate::worker::Worker;

/// What a start has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// The lease is renewed from now on.
    Running,
    /// A stop came first; nothing is sent.
    StoppedBefore,
}

/// How a waited stop has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// No request for this lease runs, and none will be made.
    Done,
    /// None will be made, but one that ran did not end in time and may still take effect.
    TimedOut,
}

/// Keeps one lease from its start to its stop. Single-use; it may be stopped as often as one likes.
/// Dropping it stops it, without waiting.
pub struct LeaseRenewal<E: Extend> {
    worker: Worker,
    extender: Arc<E>,
    lease: Arc<E::Lease>,
    terms: Terms,
    on_lost: Option<Callback>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    handle: Handle,
    notice: Arc<Notice>,
}

impl<E: Extend> LeaseRenewal<E> {
    pub(crate) fn new(worker: Worker, extender: Arc<E>, lease: E::Lease, terms: Terms) -> Self {
        Self {
            worker,
            extender,
            lease: Arc::new(lease),
            terms,
            on_lost: None,
            inner: Mutex::default(),
        }
    }

    /// Calls this when nobody keeps the lease any longer though nobody stopped it.
    pub fn on_lost(mut self, callback: impl Fn(Lost) + Send + Sync + 'static) -> Self {
        self.on_lost = Some(Arc::new(callback));
        self
    }

    /// The lease.
    pub fn lease(&self) -> &E::Lease {
        &self.lease
    }

    /// Begins to renew the lease. Waits until the worker has taken it, five seconds at most, and
    /// not for the server. After an error, and if this future is dropped, nothing is renewed and it
    /// may be started again.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`] if it was started or stopped before,
    /// [`ErrorKind::Backpressure`] if the worker has too many commands waiting,
    /// [`ErrorKind::Unavailable`] if the worker does not answer in time, and
    /// [`ErrorKind::Configuration`] outside of a runtime and in a forked process.
    pub async fn start(&self) -> Result<Begun, Error> {
        let shared = self.shared();
        let token = Shared::mint();
        let notice = {
            let mut inner = self.inner();
            inner.handle.start(token)?;
            inner.notice = Arc::default();
            Arc::clone(&inner.notice)
        };
        let mut starting = Starting {
            renewal: self,
            token,
            notice: &notice,
            submitted: false,
            registered: false,
        };
        let runtime = shared.ensure()?;
        let entry = Entry {
            group: Arc::clone(&self.extender) as Arc<dyn Group>,
            lease: Arc::clone(&self.lease) as AnyLease,
            notice: Arc::clone(&notice),
            on_lost: self.on_lost.clone(),
            runtime,
            stopping: false,
        };
        shared.submit(Command::Start(self.terms.start(token), entry))?;
        starting.submitted = true;
        let limit = Duration::from_millis(shared.settings.start_timeout_ms);
        let registered = notice.until(REGISTERED);
        if tokio::time::timeout(limit, registered).await.is_err() {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "timed out waiting for the lease renewal to start; its runtime is blocked, start it again when that has passed",
            ));
        }
        starting.registered = true;
        if notice.has(STOPPED_BEFORE) {
            return Ok(Begun::StoppedBefore);
        }
        Ok(Begun::Running)
    }

    /// Ends the renewal, and waits until no request for the lease runs: one in flight is let go on
    /// for five seconds at most, then cancelled. What is told to the server afterwards cannot be
    /// undone by a late renewal. A stop while another one waits, waits for that one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Backpressure`] if the worker has too many commands waiting: the lease is still
    /// renewed, stop it again. The same holds if this future is dropped early.
    pub async fn stop(&self) -> Result<Stopped, Error> {
        let shared = self.shared();
        if shared.is_forked() {
            // The parent renews it.
            self.inner().handle.stopped();
            return Ok(Stopped::Done);
        }
        let (step, notice) = self.begin_stop();
        let stopping = match step {
            StopStep::Nothing => return Ok(Stopped::Done),
            StopStep::Join(_) => None,
            StopStep::Send(token) => {
                let stopping = Stopping(self);
                shared.ensure()?;
                shared.submit(Command::Stop {
                    token,
                    wait: true,
                    notice: Arc::clone(&notice),
                })?;
                Some(stopping)
            }
        };
        let limit = Duration::from_millis(shared.settings.stop_timeout_ms);
        let ended = tokio::time::timeout(limit, notice.until(STOPPED | TIMED_OUT)).await;
        if let Some(stopping) = stopping {
            stopping.0.inner().handle.stopped();
        }
        if ended.is_ok() && notice.has(STOPPED) {
            return Ok(Stopped::Done);
        }
        tracing::warn!("a lease renewal did not stop in time; its last request may take effect");
        Ok(Stopped::TimedOut)
    }

    /// Ends the renewal without waiting, and cancels a request in flight. It cannot fail: if the
    /// worker has too many commands waiting, it finds out when the lease is due.
    pub fn stop_soon(&self) {
        let shared = self.shared();
        if shared.is_forked() {
            return;
        }
        let (step, notice) = self.begin_stop();
        if let StopStep::Send(token) = step {
            give_up(shared, token, &notice);
            self.inner().handle.stopped();
        }
    }

    /// Waits until nobody keeps the lease any longer though nobody stopped it. For ever, if that
    /// does not happen.
    pub async fn lost(&self) -> Lost {
        let notice = Arc::clone(&self.inner().notice);
        notice.lost().await
    }

    /// Lets the lease end so many seconds from now, 0 at once. For what a handler decides: try
    /// again later, give it back. [`stop`](Self::stop) the renewal first, or it will be moved again.
    ///
    /// # Errors
    ///
    /// Seconds that are no visibility, and refusals. That there is no such lease is an outcome.
    pub async fn extend(&self, seconds: f64) -> Result<Extended, Error> {
        follow_up(
            self.worker.settings(),
            &*self.extender,
            &self.lease,
            seconds,
        )
        .await
    }

    fn begin_stop(&self) -> (StopStep, Arc<Notice>) {
        let mut inner = self.inner();
        (inner.handle.stop(), Arc::clone(&inner.notice))
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.worker.owner.shared
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Extend> Drop for LeaseRenewal<E> {
    fn drop(&mut self) {
        self.stop_soon();
    }
}

/// Sends a stop that nobody waits for. If it cannot be sent the worker still sees the mark.
fn give_up(shared: &Shared, token: Token, notice: &Arc<Notice>) {
    notice.abandon();
    let stop = Command::Stop {
        token,
        wait: false,
        notice: Arc::clone(notice),
    };
    if let Err(error) = shared.submit(stop) {
        tracing::debug!(%error, "a lease renewal is marked as stopped instead");
    }
}

/// A start on its way; when it ends unregistered, nothing of it stays.
struct Starting<'a, E: Extend> {
    renewal: &'a LeaseRenewal<E>,
    token: Token,
    notice: &'a Arc<Notice>,
    submitted: bool,
    registered: bool,
}

impl<E: Extend> Drop for Starting<'_, E> {
    fn drop(&mut self) {
        if self.registered {
            self.renewal.inner().handle.started();
            return;
        }
        if self.submitted {
            give_up(self.renewal.shared(), self.token, self.notice);
        }
        self.renewal.inner().handle.not_started();
    }
}

/// A waited stop on its way; when it is cut short, it may be tried again.
struct Stopping<'a, E: Extend>(&'a LeaseRenewal<E>);

impl<E: Extend> Drop for Stopping<'_, E> {
    fn drop(&mut self) {
        self.0.inner().handle.not_stopped();
    }
}
