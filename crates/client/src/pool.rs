//! Instances that calls borrow one at a time.
//!
//! Both engines work alike: an instance serves one call at a time, so calls that run at once use
//! several. A call runs in a task of its own, to its end, even if its caller goes away: cutting
//! it midway would break a component's instance and leave the outcome of the call unknown. What
//! such a call claimed is handed to the next claim.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use leaseline_core::event::EventBatch;
use leaseline_core::message::{Delivery, Lease, RenewOutcome};
use leaseline_core::{Error, ErrorKind};
use tokio::sync::{Notify, Semaphore, oneshot, watch};

use crate::Meter;
use crate::engine::Opener;
use crate::heartbeat::Heartbeats;
use crate::instance::Instance;
use crate::span::within_current;

/// The most calls of one queue that run at once; further ones wait.
const MAX_INSTANCES: usize = 64;

/// How long a drain waits before it looks again whether calls are still running.
const DRAIN_PAUSE: Duration = Duration::from_millis(5);

/// As good as for ever, and a point in time that every clock has.
const LONGEST_DRAIN: Duration = Duration::from_secs(100 * 365 * 86_400);

/// A call that runs on an instance.
pub(crate) type Work<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// How often a call is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tries {
    /// As the queue's configuration says.
    UntilTheBudget,
    /// Somebody else decides whether it is tried again.
    Once,
}

/// The instances of one queue.
pub(crate) struct Pool {
    opener: Opener,
    idle: Mutex<Vec<Instance>>,
    /// Those that do not try again by themselves.
    idle_once: Mutex<Vec<Instance>>,
    slots: Semaphore,
    /// Publishes and claims are refused.
    drained: watch::Sender<bool>,
    /// Claims that an instance could not resolve, for whichever claims next.
    open_claims: Mutex<Vec<String>>,
    /// Claimed for callers that went away.
    undelivered: Mutex<VecDeque<Delivery>>,
    /// Wakes a claim that sleeps: a caller has gone, and left something to the next claim.
    left_behind: Notify,
    /// Counts what calls tell.
    meter: Option<Meter>,
    /// What renews the leases of its consumers, while there are any.
    heartbeats: Mutex<Weak<Heartbeats>>,
}

impl Pool {
    pub(crate) fn new(opener: Opener, meter: Option<Meter>) -> Arc<Self> {
        Arc::new(Self {
            opener,
            idle: Mutex::default(),
            idle_once: Mutex::default(),
            slots: Semaphore::new(MAX_INSTANCES),
            drained: watch::Sender::new(false),
            open_claims: Mutex::default(),
            undelivered: Mutex::default(),
            left_behind: Notify::new(),
            meter,
            heartbeats: Mutex::default(),
        })
    }

    /// The one that renews leases, or a new one. It knows this pool, so the pool does not keep it.
    pub(crate) fn heartbeats(&self, make: impl FnOnce() -> Heartbeats) -> Arc<Heartbeats> {
        let mut known = lock(&self.heartbeats);
        known.upgrade().unwrap_or_else(|| {
            let made = Arc::new(make());
            *known = Arc::downgrade(&made);
            made
        })
    }

    /// Runs a call on an instance. `undelivered` gets the answer if the caller has gone, also one
    /// that is an error.
    pub(crate) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl for<'a> FnOnce(&'a mut Instance) -> Work<'a, T> + Send + 'static,
        undelivered: fn(&Self, Result<T, Error>),
    ) -> Result<T, Error> {
        self.run_trying(Tries::UntilTheBudget, work, undelivered)
            .await
    }

    /// The same with as many tries as that.
    pub(crate) async fn run_trying<T: Send + 'static>(
        self: &Arc<Self>,
        tries: Tries,
        work: impl for<'a> FnOnce(&'a mut Instance) -> Work<'a, T> + Send + 'static,
        undelivered: fn(&Self, Result<T, Error>),
    ) -> Result<T, Error> {
        let (sender, receiver) = oneshot::channel();
        let pool = Arc::clone(self);
        tokio::spawn(within_current(async move {
            let answer = pool.run_here(tries, work).await;
            if let Err(answer) = sender.send(answer) {
                undelivered(&pool, answer);
            }
        }));
        Waiting {
            pool: self,
            receiver,
            undelivered,
        }
        .answer()
        .await
    }

    async fn run_here<T>(
        &self,
        tries: Tries,
        work: impl for<'a> FnOnce(&'a mut Instance) -> Work<'a, T> + Send,
    ) -> Result<T, Error> {
        let _slot = self.slots.acquire().await.map_err(|_| closed())?;
        let mut instance = self.checkout(tries).await?;
        let answer = work(&mut instance).await;
        self.count(&mut instance).await;
        self.give_back(tries, instance);
        answer
    }

    async fn count(&self, instance: &mut Instance) {
        if let Some(meter) = &self.meter {
            meter.read(instance).await;
        }
    }

    /// Who counts what happens here.
    pub(crate) fn meter(&self) -> Option<&Meter> {
        self.meter.as_ref()
    }

    fn idle(&self, tries: Tries) -> MutexGuard<'_, Vec<Instance>> {
        lock(match tries {
            Tries::UntilTheBudget => &self.idle,
            Tries::Once => &self.idle_once,
        })
    }

    async fn checkout(&self, tries: Tries) -> Result<Instance, Error> {
        let idle = self.idle(tries).pop();
        match idle {
            Some(instance) => Ok(instance),
            None => self.opener.open(tries).await,
        }
    }

    /// An instance that broke is dropped, with whatever it still knew.
    fn give_back(&self, tries: Tries, instance: Instance) {
        let mut idle = self.idle(tries);
        if instance.is_alive() && idle.len() < MAX_INSTANCES {
            idle.push(instance);
        }
    }

    /// Opens an instance ahead of the first call, so that a wrong configuration shows at once.
    pub(crate) async fn warm(&self) -> Result<(), Error> {
        let instance = self.checkout(Tries::UntilTheBudget).await?;
        self.give_back(Tries::UntilTheBudget, instance);
        Ok(())
    }

    /// Claims on an instance, with the open claims of all others. Does not wait for messages.
    pub(crate) async fn claim(self: &Arc<Self>, max: u32) -> Result<Vec<Delivery>, Error> {
        let pool = Arc::clone(self);
        self.run(
            move |instance| Box::pin(async move { pool.claim_on(instance, max).await }),
            |pool, claimed| {
                // After an error its claims may be open still.
                if claimed.as_ref().is_ok_and(Vec::is_empty) {
                    return;
                }
                lock(&pool.undelivered).extend(claimed.into_iter().flatten());
                pool.left_behind.notify_one();
            },
        )
        .await
    }

    /// Waits until a caller that has gone left something for a claim.
    pub(crate) async fn left_behind(&self) {
        self.left_behind.notified().await;
    }

    /// Everything that a claim takes from the pool it takes here, in the task of the call, which
    /// nobody cuts short.
    async fn claim_on(&self, instance: &mut Instance, max: u32) -> Result<Vec<Delivery>, Error> {
        let kept = self.redeliver(instance, max).await;
        if !kept.is_empty() || self.is_drained() {
            return Ok(kept);
        }
        let open = std::mem::take(&mut *lock(&self.open_claims));
        if !open.is_empty()
            && let Err(error) = instance.adopt_claims(open.clone()).await
        {
            lock(&self.open_claims).extend(open);
            return Err(error);
        }
        let mut claimed = instance.claim(max, 0).await;
        // A call that was cut may have ended while this one waited.
        if claimed.as_ref().is_ok_and(Vec::is_empty) {
            claimed = Ok(self.redeliver(instance, max).await);
        }
        // A broken instance has lost what it claimed itself: those leases expire.
        let open = instance.take_pending_claims().await.unwrap_or(open);
        lock(&self.open_claims).extend(open);
        claimed
    }

    /// Hands out what was claimed for callers that went away, as far as its leases still stand.
    async fn redeliver(&self, instance: &mut Instance, max: u32) -> Vec<Delivery> {
        let mut kept: Vec<Delivery> = {
            let mut undelivered = lock(&self.undelivered);
            let count = undelivered.len().min(max as usize);
            let kept = undelivered.drain(..count).collect();
            if !undelivered.is_empty() {
                self.left_behind.notify_one();
            }
            kept
        };
        let leases: Vec<Lease> = kept
            .iter()
            .map(|delivery| delivery.lease.clone())
            .filter(|lease| lease.token.is_some())
            .collect();
        if leases.is_empty() {
            return kept;
        }
        // Leases that are over or in doubt come back by themselves.
        let mut renewed = instance
            .renew(&leases)
            .await
            .unwrap_or_default()
            .into_iter();
        kept.retain_mut(|delivery| {
            if delivery.lease.token.is_none() {
                return true;
            }
            let Some(Ok(RenewOutcome::Renewed(deadline_ms))) = renewed.next() else {
                return false;
            };
            delivery.lease.deadline_ms = Some(deadline_ms);
            true
        });
        kept
    }

    /// Waits for running calls, then drains. False: something was still running or unresolved.
    pub(crate) async fn drain(self: &Arc<Self>, timeout: Duration) -> Result<bool, Error> {
        let pool = Arc::clone(self);
        let drained = tokio::spawn(within_current(
            async move { pool.drain_here(timeout).await },
        ));
        drained.await.unwrap_or_else(|_| Err(cut_off()))
    }

    async fn drain_here(&self, timeout: Duration) -> Result<bool, Error> {
        self.drained.send_replace(true);
        let deadline = tokio::time::Instant::now() + timeout.min(LONGEST_DRAIN);
        // Looks now and then instead of queueing for all slots: settlements and renewals of running
        // handlers must not wait behind a drain.
        let all = u32::try_from(MAX_INSTANCES).unwrap_or(u32::MAX);
        let slots = loop {
            match self.slots.try_acquire_many(all) {
                Ok(slots) => break slots,
                Err(_) if tokio::time::Instant::now() >= deadline => return Ok(false),
                Err(_) => tokio::time::sleep(DRAIN_PAUSE).await,
            }
        };
        let mut instance = self.checkout(Tries::UntilTheBudget).await?;
        let open = std::mem::take(&mut *lock(&self.open_claims));
        if let Err(error) = instance.adopt_claims(open.clone()).await {
            lock(&self.open_claims).extend(open);
            return Err(error);
        }
        let rest = deadline.saturating_duration_since(tokio::time::Instant::now());
        let drained = instance.drain(millis(rest)).await;
        // A broken instance cannot say which of them it resolved.
        let open = instance.take_pending_claims().await.unwrap_or(open);
        lock(&self.open_claims).extend(open);
        self.count(&mut instance).await;
        self.give_back(Tries::UntilTheBudget, instance);
        drop(slots);
        // Leased ones come back by themselves; others wait for a claim that takes them over.
        let mut undelivered = lock(&self.undelivered);
        undelivered.retain(|delivery| delivery.lease.token.is_none());
        Ok(drained? && undelivered.is_empty())
    }

    /// Whether publishes and claims are refused.
    pub(crate) fn is_drained(&self) -> bool {
        *self.drained.borrow()
    }

    /// Waits until they are.
    pub(crate) async fn drained(&self) {
        // An error means that the sender is gone, but it is a field of this.
        let _ = self.drained.subscribe().wait_for(|drained| *drained).await;
    }

    /// The events of the instances that are idle now; the others' come later.
    pub(crate) async fn take_events(self: &Arc<Self>) -> EventBatch {
        if let Some(meter) = &self.meter {
            return meter.take_events();
        }
        let pool = Arc::clone(self);
        let taken = tokio::spawn(async move {
            let mut all = EventBatch::default();
            for tries in [Tries::UntilTheBudget, Tries::Once] {
                let instances = std::mem::take(&mut *pool.idle(tries));
                for mut instance in instances {
                    if let Ok(batch) = instance.take_events().await {
                        all.events.extend(batch.events);
                        all.dropped += batch.dropped;
                    }
                    pool.give_back(tries, instance);
                }
            }
            all
        });
        taken.await.unwrap_or_default()
    }
}

/// A caller that waits for the answer of its call. If it goes away in the moment in which the
/// answer has arrived, the answer still goes to `undelivered`.
struct Waiting<'a, T> {
    pool: &'a Pool,
    receiver: oneshot::Receiver<Result<T, Error>>,
    undelivered: fn(&Pool, Result<T, Error>),
}

impl<T> Waiting<'_, T> {
    async fn answer(mut self) -> Result<T, Error> {
        (&mut self.receiver)
            .await
            .unwrap_or_else(|_| Err(cut_off()))
    }
}

impl<T> Drop for Waiting<'_, T> {
    fn drop(&mut self) {
        self.receiver.close();
        if let Ok(answer) = self.receiver.try_recv() {
            (self.undelivered)(self.pool, answer);
        }
    }
}

/// A panic in another call must not end this one: the lists stay whole between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn cut_off() -> Error {
    Error::new(
        ErrorKind::OutcomeUnknown,
        "the call was cut off by a panic or the end of its runtime; it may have taken effect",
    )
}

fn closed() -> Error {
    Error::new(
        ErrorKind::Drained,
        "the queue object is closed; open a new one",
    )
}

/// A duration in whole milliseconds, rounded up so that a wait is never cut short.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
