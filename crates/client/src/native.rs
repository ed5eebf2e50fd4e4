//! The native engine's clock and entropy.

use std::time::Duration;

use leaseline_core::capability::{Clock, Entropy};
use tokio::time::Instant;

/// Tokio's clock, so that tests under paused time work.
#[derive(Clone, Debug)]
pub(crate) struct TokioClock {
    origin: Instant,
}

impl TokioClock {
    pub(crate) fn new() -> Self {
        Self { origin: Instant::now() }
    }
}

impl Clock for TokioClock {
    fn now_ms(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    async fn sleep_ms(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

/// The operating system's random bytes.
#[derive(Clone, Debug)]
pub(crate) struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // Ids that repeat would mix up messages; without entropy nothing can go on.
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }
}
