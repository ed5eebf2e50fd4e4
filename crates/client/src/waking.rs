//! Waking consumers that sleep because their queue is empty.
//!
//! All sleepers of a queue, on all queue objects of the process that have the same address, share
//! one [`Bell`]. (One for each runtime: a runtime that nobody drives must not stop the sleepers of
//! another one.) While anybody sleeps, a task waits for messages on a connection of its own; when
//! there is something, it wakes one sleeper, learns whether that one claimed anything, and waits
//! again. So a push wakes one sleeper, the next one only while messages are left, and an idle
//! process costs the same however many of its consumers sleep.

mod bell;
mod sleepers;
mod waiter;

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use leaseline_core::waiting::Watch;
use leaseline_wasmtime::Connection;
use tokio::runtime::{self, Handle};

use bell::Bell;

pub(crate) use bell::Awake;
pub(crate) use sleepers::Call;

/// Makes a connection that may block.
type Open = Box<dyn Fn() -> Connection + Send + Sync>;

/// The bells of one Redis.
pub(crate) struct Waking {
    /// Absent: nothing can wait there, and sleepers poll.
    open: Option<Open>,
    bells: Mutex<HashMap<(runtime::Id, Watch), Weak<Bell>>>,
}

/// By address, for the whole process.
static SHARED: LazyLock<Mutex<HashMap<String, Weak<Waking>>>> = LazyLock::new(Mutex::default);

impl Waking {
    /// Bells of a Redis that nobody else knows. Without `open`, sleepers poll.
    pub(crate) fn new(open: Option<Open>) -> Arc<Self> {
        Arc::new(Self {
            open,
            bells: Mutex::default(),
        })
    }

    /// The bells that everybody with this address shares.
    pub(crate) fn shared(address: &str, open: Open) -> Arc<Self> {
        let mut shared = lock(&SHARED);
        if let Some(waking) = shared.get(address).and_then(Weak::upgrade) {
            return waking;
        }
        shared.retain(|_, waking| waking.strong_count() > 0);
        let waking = Self::new(Some(open));
        shared.insert(address.to_owned(), Arc::downgrade(&waking));
        waking
    }

    /// The bell for these keys on the runtime of the caller.
    pub(crate) fn bell(self: &Arc<Self>, watch: &Watch) -> Arc<Bell> {
        let key = (Handle::current().id(), watch.clone());
        let mut bells = lock(&self.bells);
        if let Some(bell) = bells.get(&key).and_then(Weak::upgrade) {
            return bell;
        }
        bells.retain(|_, bell| bell.strong_count() > 0);
        let bell = Arc::new(Bell::new(Arc::clone(self), watch.clone()));
        bells.insert(key, Arc::downgrade(&bell));
        bell
    }

    /// A connection that may block.
    fn open(&self) -> Option<Connection> {
        self.open.as_ref().map(|open| open())
    }
}

/// How the consumers of one queue object sleep.
pub(crate) struct Idle {
    waking: Arc<Waking>,
    watch: Watch,
    /// Remembers between sleeps how the waiting went.
    _bell: Arc<Bell>,
}

impl Idle {
    pub(crate) fn new(waking: Arc<Waking>, watch: Watch) -> Self {
        let bell = waking.bell(&watch);
        Self {
            waking,
            watch,
            _bell: bell,
        }
    }

    /// Sleeps until there may be messages, or until `over`.
    pub(crate) async fn sleep(&self, over: impl Future<Output = ()>) -> Awake {
        self.waking.bell(&self.watch).sleep(over).await
    }
}

/// A panic elsewhere must not end this: what is behind these locks is whole between statements.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
