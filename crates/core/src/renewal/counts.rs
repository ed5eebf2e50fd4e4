//! What a table has done so far, as plain numbers.

/// The number of buckets of [`Counts::lag`].
pub const LAG_BUCKETS: usize = 20;

/// The upper bound of a bucket of [`Counts::lag`], in milliseconds: 0, 1, 2, 4 and so on. The last
/// one takes what is above too.
pub fn lag_bucket_ms(bucket: usize) -> u64 {
    match bucket.checked_sub(1) {
        None => 0,
        Some(power) => 1_u64.checked_shl(power as u32).unwrap_or(u64::MAX),
    }
}

/// Counters since the table was made, and two gauges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Renewals that are active now.
    pub active: u64,
    /// Extensions in flight now.
    pub in_flight: u64,
    /// Extensions that succeeded.
    pub extended: u64,
    /// Extensions that the server refused, each of which ended its renewal.
    pub refused: u64,
    /// Extensions that a throttling server put off.
    pub throttled: u64,
    /// Extensions that failed in a way that may pass.
    pub transient: u64,
    /// Extensions that failed in any other way.
    pub unexpected: u64,
    /// Renewals that were ended by the longest lease time.
    pub capped: u64,
    /// Waited stops whose request did not end in time.
    pub stop_timeouts: u64,
    /// How late extensions were begun: how many in each bucket, see [`lag_bucket_ms`].
    pub lag: [u64; LAG_BUCKETS],
    /// The latest of all, in milliseconds.
    pub max_lag_ms: u64,
}

impl Counts {
    pub(super) fn late(&mut self, lag_ms: u64) {
        self.max_lag_ms = self.max_lag_ms.max(lag_ms);
        let bucket = (0..LAG_BUCKETS)
            .find(|bucket| lag_ms <= lag_bucket_ms(*bucket))
            .unwrap_or(LAG_BUCKETS - 1);
        self.lag[bucket] += 1;
    }

    /// How late, in milliseconds, half of the extensions were begun at most, as
    /// [`lag_p99_ms`](Self::lag_p99_ms).
    pub fn lag_p50_ms(&self) -> u64 {
        self.lag_ms(50)
    }

    /// How late, in milliseconds, all but one in a hundred extensions were begun: the bound of a
    /// bucket, so at most twice as much as it was.
    pub fn lag_p99_ms(&self) -> u64 {
        self.lag_ms(99)
    }

    fn lag_ms(&self, percent: u64) -> u64 {
        let all: u64 = self.lag.iter().sum();
        let mut seen = 0;
        for (bucket, count) in self.lag.iter().enumerate() {
            seen += count;
            if seen * 100 >= all * percent {
                return lag_bucket_ms(bucket);
            }
        }
        self.max_lag_ms
    }
}
