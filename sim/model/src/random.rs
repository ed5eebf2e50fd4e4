//! Random numbers: the generator of `drand48`, the same on every platform. It is that of
//! `math.random` in Redis, and chooses members of sets.

/// The generator's 48 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Random(u64);

const BITS: u64 = (1 << 48) - 1;

impl Default for Random {
    fn default() -> Self {
        Random(0x1234_ABCD_330E)
    }
}

impl Random {
    pub(crate) fn seeded(seed: i32) -> Self {
        Random(u64::from(seed as u32) << 16 | 0x330E)
    }

    /// The next number from 0 up to but not 1.
    pub(crate) fn next(&mut self) -> f64 {
        const LARGEST: u64 = i32::MAX as u64;
        self.0 = self.0.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & BITS;
        ((self.0 >> 17) % LARGEST) as f64 / LARGEST as f64
    }

    /// A number below `limit`, or 0 if there is none.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        let chosen = (self.next() * limit as f64) as usize;
        chosen.min(limit.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_are_those_of_redis() {
        let mut random = Random::seeded(7);
        let mut up_to_a_million = || (random.next() * 1e6).floor() as i64 + 1;
        assert_eq!((up_to_a_million(), up_to_a_million()), (266_445, 682_036));
        assert!((random.next() - 0.265_490_593_512_31).abs() < 1e-14);
        let mut fresh = Random::default();
        assert_eq!((fresh.below(0), fresh.below(1)), (0, 0));
        assert!((0..100).all(|_| fresh.below(3) < 3));
        let mut fresh = Random::default();
        assert_eq!((fresh.next() * 1e6).floor() as i64 + 1, 396_465);
    }
}
