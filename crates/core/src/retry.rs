//! When a failed call is made again: the schedule of `redis-message-queue`.

use crate::capability::Entropy;
use crate::config::Config;

/// Up to this much is added to each pause, so that clients do not return in step.
const JITTER_MS: u64 = 100;

/// The longest pause after an attempt that reached no server. It spares no server to wait longer, and
/// what waits here holds up a consumer when the server is back.
const MAX_UNREACHED_DELAY_MS: u64 = 1_000;

/// How much longer than the retry budget a marker lives at least: the last pause and attempt may
/// overshoot the budget, and a marker that is gone turns an answered retry into a second call.
pub(crate) const MARKER_MARGIN_MS: u64 = 180_000;

/// The pauses between attempts, and when to give up.
#[derive(Clone, Debug)]
pub(crate) struct RetryPolicy {
    budget_ms: u64,
    initial_delay_ms: u64,
    max_delay_ms: u64,
}

impl RetryPolicy {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            budget_ms: config.retry_budget_ms,
            initial_delay_ms: config.retry_initial_delay_ms,
            max_delay_ms: config.retry_max_delay_ms,
        }
    }

    /// Whether the budget is spent `elapsed_ms` after the first attempt began. The final pause
    /// and attempt may overshoot it.
    pub(crate) fn is_spent(&self, elapsed_ms: u64) -> bool {
        elapsed_ms >= self.budget_ms
    }

    /// The pause after failed attempt `attempt` (from 1), which may have `reached` a server.
    pub(crate) fn delay_ms(&self, attempt: u32, reached: bool, entropy: &impl Entropy) -> u64 {
        let longest = if reached {
            self.max_delay_ms
        } else {
            self.max_delay_ms.min(MAX_UNREACHED_DELAY_MS)
        };
        let doubled = self
            .initial_delay_ms
            .saturating_mul(1_u64.checked_shl(attempt - 1).unwrap_or(u64::MAX));
        doubled
            .saturating_add(below(JITTER_MS + 1, entropy))
            .min(longest)
    }
}

/// A number from 0 to `limit - 1`, evenly enough for pauses.
pub(crate) fn below(limit: u64, entropy: &impl Entropy) -> u64 {
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    u64::from_le_bytes(bytes) % limit
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(u8);

    impl Entropy for Fixed {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
            bytes[0] = self.0;
        }
    }

    #[test]
    fn pauses_double_from_the_initial_one_up_to_the_longest() {
        let policy = RetryPolicy::new(&Config::new("q"));
        let pauses = |jitter| {
            (1..=12)
                .map(|n| policy.delay_ms(n, true, &Fixed(jitter)))
                .collect::<alloc::vec::Vec<_>>()
        };
        assert_eq!(
            pauses(0),
            [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5000, 5000, 5000]
        );
        assert_eq!(
            pauses(100),
            [
                110, 120, 140, 180, 260, 420, 740, 1380, 2660, 5000, 5000, 5000
            ]
        );
        assert_eq!(policy.delay_ms(64, true, &Fixed(0)), 5000);
        assert_eq!(policy.delay_ms(u32::MAX, true, &Fixed(0)), 5000);
    }

    #[test]
    fn pauses_are_short_while_no_server_is_reached() {
        let policy = RetryPolicy::new(&Config::new("q"));
        assert_eq!(policy.delay_ms(7, false, &Fixed(0)), 640);
        assert_eq!(policy.delay_ms(12, false, &Fixed(100)), 1_000);
        let mut config = Config::new("q");
        config.retry_max_delay_ms = 20;
        let policy = RetryPolicy::new(&config);
        assert_eq!(policy.delay_ms(12, false, &Fixed(0)), 20);
    }

    #[test]
    fn the_budget_counts_from_the_first_attempt() {
        let policy = RetryPolicy::new(&Config::new("q"));
        assert!(!policy.is_spent(119_999));
        assert!(policy.is_spent(120_000));
    }
}
