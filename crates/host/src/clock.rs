//! Time for guests.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use leaseline_core::capability::Clock;
use tokio::time::Instant;

/// A clock of the embedder behind one type.
#[derive(Clone)]
pub(crate) struct SharedClock(Arc<dyn AnyClock>);

impl SharedClock {
    pub(crate) fn new(clock: impl Clock + 'static) -> Self {
        Self(Arc::new(clock))
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.0.now_ms()
    }

    pub(crate) async fn sleep_ms(&self, ms: u64) {
        self.0.sleep_ms(ms).await;
    }
}

/// [`Clock`] with boxed futures, so that it can stand behind a pointer.
trait AnyClock: Send + Sync {
    fn now_ms(&self) -> u64;
    fn sleep_ms(&self, ms: u64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

impl<C: Clock> AnyClock for C {
    fn now_ms(&self) -> u64 {
        Clock::now_ms(self)
    }

    fn sleep_ms(&self, ms: u64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(Clock::sleep_ms(self, ms))
    }
}

/// Tokio's clock, counted from its creation. It stands still where Tokio's does.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    start: Instant,
}

impl TokioClock {
    /// A clock that begins at zero.
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn sleep_ms(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}
