//! Reproducible chance.

use std::cell::Cell;

/// SplitMix64.
pub(crate) struct Random(Cell<u64>);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    pub(crate) fn next(&self) -> u64 {
        let mut word = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(word);
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Below `limit`.
    pub(crate) fn below(&self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub(crate) fn pick<T: Copy>(&self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
