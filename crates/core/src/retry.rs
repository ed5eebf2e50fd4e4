//! When a failed call is made again: the schedule of `redis-message-queue`.

use crate::capability::Entropy;
use crate::config::Config;

/// Up to this much is added to each pause, so that clients do not return in step.
const JITTER_MS: u64 = 100;

/// How much longer than the retry budget a marker lives: the last pause and attempt may overshoot
/// the budget, and a marker that is gone turns an answered retry into a second call.
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

    /// The pause after failed attempt `attempt` (from 1).
    pub(crate) fn delay_ms(&self, attempt: u32, entropy: &impl Entropy) -> u64 {
        let doubled = self
            .initial_delay_ms
            .saturating_mul(1_u64.checked_shl(attempt - 1).unwrap_or(u64::MAX));
        doubled
            .saturating_add(below(JITTER_MS + 1, entropy))
            .min(self.max_delay_ms)
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
                .map(|n| policy.delay_ms(n, &Fixed(jitter)))
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
        assert_eq!(policy.delay_ms(64, &Fixed(0)), 5000);
        assert_eq!(policy.delay_ms(u32::MAX, &Fixed(0)), 5000);
    }

    #[test]
    fn the_budget_counts_from_the_first_attempt() {
        let policy = RetryPolicy::new(&Config::new("q"));
        assert!(!policy.is_spent(119_999));
        assert!(policy.is_spent(120_000));
    }
}
