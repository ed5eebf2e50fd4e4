//! Time, from `wasi:clocks/monotonic-clock`.

use leaseline_core::capability::Clock;

use crate::bindings::wasi::clocks::monotonic_clock;

const NANOSECONDS: u64 = 1_000_000;

/// The host's monotonic clock.
pub(crate) struct HostClock;

impl Clock for HostClock {
    fn now_ms(&self) -> u64 {
        monotonic_clock::now() / NANOSECONDS
    }

    async fn sleep_ms(&self, ms: u64) {
        monotonic_clock::subscribe_duration(ms.saturating_mul(NANOSECONDS)).block();
    }
}
