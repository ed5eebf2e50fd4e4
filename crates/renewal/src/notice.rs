//! What the worker and the owner of a renewal tell each other.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use leaseline_core::renewal::Lost;
use tokio::sync::Notify;

/// The start was taken.
pub(crate) const REGISTERED: u8 = 1;
/// And the stop had come before.
pub(crate) const STOPPED_BEFORE: u8 = 2;
/// The stop is complete.
pub(crate) const STOPPED: u8 = 4;
/// The time of a waited stop is over.
pub(crate) const TIMED_OUT: u8 = 8;
const REFUSED: u8 = 16;
const LONGEST_TIME: u8 = 32;

pub(crate) type Callback = Arc<dyn Fn(Lost) + Send + Sync>;

/// Shared by one renewal and its worker.
#[derive(Default)]
pub(crate) struct Notice {
    told: AtomicU8,
    changed: Notify,
    /// Nobody wants this renewal any more, though its stop may not have reached the worker.
    abandoned: AtomicBool,
}

impl Notice {
    pub(crate) fn tell(&self, news: u8) {
        self.told.fetch_or(news, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    pub(crate) fn tell_lost(&self, why: Lost) {
        self.tell(match why {
            Lost::LongestTime => LONGEST_TIME,
            _ => REFUSED,
        });
    }

    pub(crate) fn has(&self, news: u8) -> bool {
        self.told.load(Ordering::Acquire) & news != 0
    }

    /// Waits for one of these.
    pub(crate) async fn until(&self, news: u8) {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if self.has(news) {
                return;
            }
            changed.await;
        }
    }

    pub(crate) async fn lost(&self) -> Lost {
        self.until(REFUSED | LONGEST_TIME).await;
        if self.has(LONGEST_TIME) {
            Lost::LongestTime
        } else {
            Lost::Refused
        }
    }

    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    pub(crate) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }
}
