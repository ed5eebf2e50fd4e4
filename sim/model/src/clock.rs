//! The server's time: the caller's, or the machine's.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where a server takes the time from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// Stands still until [`Server::advance`](crate::Server::advance) or
    /// [`Server::set_time_us`](crate::Server::set_time_us) moves it. Starts at this many
    /// microseconds since 1970.
    Virtual(u64),
    /// The machine's clock. Moving it moves this server's view of it.
    Wall,
}

/// What a script sees of time while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptTime {
    /// Nothing moves (Redis 7.2).
    Frozen,
    /// `TIME` and relative expiries move, only the check whether a key has expired stands still
    /// (Redis 7.0). A virtual clock advances by `per_call` before each `redis.call`.
    Live {
        /// How far a virtual clock moves per call.
        per_call: Duration,
    },
}

/// A clock, and the instant at which a running script has stopped it.
#[derive(Debug)]
pub(crate) struct Time {
    source: Clock,
    /// What was added to the machine's clock.
    shift_us: i64,
    frozen_us: Option<u64>,
}

impl Time {
    pub(crate) fn new(source: Clock) -> Self {
        Time {
            source,
            shift_us: 0,
            frozen_us: None,
        }
    }

    pub(crate) fn now_us(&self) -> u64 {
        self.frozen_us.unwrap_or_else(|| match self.source {
            Clock::Virtual(now) => now,
            Clock::Wall => machine_us().saturating_add_signed(self.shift_us),
        })
    }

    pub(crate) fn now_ms(&self) -> i64 {
        (self.now_us() / 1000) as i64
    }

    pub(crate) fn set_us(&mut self, to: u64) {
        match &mut self.source {
            Clock::Virtual(now) => *now = to,
            Clock::Wall => self.shift_us = (i128::from(to) - i128::from(machine_us())) as i64,
        }
    }

    pub(crate) fn advance(&mut self, by: Duration) {
        let by = u64::try_from(by.as_micros()).unwrap_or(u64::MAX);
        match &mut self.source {
            Clock::Virtual(now) => *now = now.saturating_add(by),
            Clock::Wall => self.shift_us = self.shift_us.saturating_add_unsigned(by),
        }
    }

    pub(crate) fn is_virtual(&self) -> bool {
        matches!(self.source, Clock::Virtual(_))
    }

    pub(crate) fn freeze(&mut self) {
        self.frozen_us = Some(self.now_us());
    }

    pub(crate) fn thaw(&mut self) {
        self.frozen_us = None;
    }
}

fn machine_us() -> u64 {
    // A machine whose clock stands before 1970 is served as if it were 1970.
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_clock_moves_only_when_told() {
        let mut time = Time::new(Clock::Virtual(5_000));
        assert_eq!((time.now_us(), time.now_ms()), (5_000, 5));
        time.advance(Duration::from_millis(2));
        assert_eq!(time.now_us(), 7_000);
        time.freeze();
        time.advance(Duration::from_millis(2));
        assert_eq!(time.now_us(), 7_000);
        time.thaw();
        assert_eq!(time.now_us(), 9_000);
        time.set_us(1);
        assert_eq!(time.now_us(), 1);
    }

    #[test]
    fn the_wall_clock_can_be_shifted() {
        let mut time = Time::new(Clock::Wall);
        let before = time.now_us();
        time.advance(Duration::from_secs(3600));
        assert!(time.now_us() >= before + 3_600_000_000);
        time.set_us(1_000_000);
        assert!((1_000_000..60_000_000).contains(&time.now_us()));
    }
}
