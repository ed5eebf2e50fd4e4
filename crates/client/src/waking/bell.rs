//! What the sleepers of a queue listen to.

use std::future::Future;
use std::sync::Arc;

use leaseline_core::waiting::{Pace, Watch};
use tokio::sync::Mutex;

use super::Waking;
use super::sleepers::{Call, Sleepers};
use super::waiter;

/// The sleepers of one queue, and what is watched for them.
pub(crate) struct Bell {
    pub(super) waking: Arc<Waking>,
    pub(super) watch: Watch,
    pub(super) sleepers: Sleepers,
    /// For the waiter, of which there is one at a time.
    pub(super) pace: Mutex<Pace>,
}

/// Why a consumer is awake.
pub(crate) enum Awake {
    /// There may be messages: it has to claim, and to say whether it got any.
    Called(Call),
    /// What would have ended its wait happened.
    Over,
}

impl Bell {
    pub(super) fn new(waking: Arc<Waking>, watch: Watch) -> Self {
        Self {
            waking,
            watch,
            sleepers: Sleepers::new(),
            pace: Mutex::default(),
        }
    }

    /// Sleeps until there may be messages, or until `over`.
    pub(crate) async fn sleep(self: &Arc<Self>, over: impl Future<Output = ()>) -> Awake {
        let (place, unattended) = self.sleepers.join();
        if unattended {
            tokio::spawn(waiter::attend(Arc::clone(self)));
        }
        tokio::select! {
            biased;
            () = over => Awake::Over,
            call = place.called() => Awake::Called(call),
        }
    }
}
