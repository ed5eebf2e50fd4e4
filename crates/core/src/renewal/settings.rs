//! The constants of renewal, each with a name and a default.

use alloc::format;

use crate::error::{Error, ErrorKind};

/// What can be set. The defaults are the constants of the original (spec §2); times are in
/// milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// The lease of a handle that names none: 300 s.
    pub default_lease_ms: u64,
    /// Shorter leases are lengthened to this: 30 s.
    pub min_lease_ms: u64,
    /// No visibility is set for longer: 3,600 s.
    pub max_lease_ms: u64,
    /// A lease is renewed this many times in its length, within the next two bounds: 5.
    pub renewals_per_lease: u64,
    /// The shortest interval between renewals: 10 s. A lease of less than three times this is
    /// renewed every third of its length.
    pub min_interval_ms: u64,
    /// The longest interval between renewals: 60 s.
    pub max_interval_ms: u64,
    /// A lease whose end is known is first renewed this long before it: 10 s.
    pub deadline_grace_ms: u64,
    /// The delay of a first renewal that is due already: 10 ms.
    pub due_now_delay_ms: u64,
    /// The delay after a failure that may pass, at most the interval: 3 s.
    pub retry_delay_ms: u64,
    /// The shortest delay that a throttling server can ask for: 1 s.
    pub min_throttle_ms: u64,
    /// Brings each renewal forward by a random part of the interval, at most this many percent:
    /// 0, as renewals that are due together share a request.
    pub jitter_percent: u8,
    /// How many stops that overtook their start are remembered: 1,024.
    pub stopped_memory: usize,
    /// How many commands a worker has waiting at most: 65,536.
    pub command_capacity: usize,
    /// How long a start waits for the worker: 5 s.
    pub start_timeout_ms: u64,
    /// How long a waited stop lets the request in flight go on: 5 s.
    pub stop_timeout_ms: u64,
    /// How often an update after the handler is sent, the first time included: 3.
    pub follow_up_attempts: u32,
    /// The delay between two of them: 100 ms.
    pub follow_up_delay_ms: u64,
    /// The longest delay that a throttling server can ask of them: 60 s.
    pub max_follow_up_delay_ms: u64,
    /// The delay of a retry that names none: 60 s.
    pub default_retry_after_ms: u64,
    /// How long one request of a renewal may take: 10 s.
    pub attempt_timeout_ms: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            default_lease_ms: 300_000,
            min_lease_ms: 30_000,
            max_lease_ms: 3_600_000,
            renewals_per_lease: 5,
            min_interval_ms: 10_000,
            max_interval_ms: 60_000,
            deadline_grace_ms: 10_000,
            due_now_delay_ms: 10,
            retry_delay_ms: 3_000,
            min_throttle_ms: 1_000,
            jitter_percent: 0,
            stopped_memory: 1_024,
            command_capacity: 65_536,
            start_timeout_ms: 5_000,
            stop_timeout_ms: 5_000,
            follow_up_attempts: 3,
            follow_up_delay_ms: 100,
            max_follow_up_delay_ms: 60_000,
            default_retry_after_ms: 60_000,
            attempt_timeout_ms: 10_000,
        }
    }
}

impl Settings {
    /// Checks that the settings can work together.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`] for the first that cannot.
    pub fn validate(&self) -> Result<(), Error> {
        let positive = [
            ("min_lease_ms", self.min_lease_ms),
            ("renewals_per_lease", self.renewals_per_lease),
            ("min_interval_ms", self.min_interval_ms),
            ("due_now_delay_ms", self.due_now_delay_ms),
            ("retry_delay_ms", self.retry_delay_ms),
            ("min_throttle_ms", self.min_throttle_ms),
            ("stopped_memory", self.stopped_memory as u64),
            ("command_capacity", self.command_capacity as u64),
            ("start_timeout_ms", self.start_timeout_ms),
            ("stop_timeout_ms", self.stop_timeout_ms),
            ("follow_up_attempts", u64::from(self.follow_up_attempts)),
            ("attempt_timeout_ms", self.attempt_timeout_ms),
        ];
        for (name, value) in positive {
            if value == 0 {
                return breach(format!("{name} is 0; use 1 or more"));
            }
        }
        let ordered = [
            (
                ("min_interval_ms", self.min_interval_ms),
                ("max_interval_ms", self.max_interval_ms),
            ),
            (
                ("min_lease_ms", self.min_lease_ms),
                ("default_lease_ms", self.default_lease_ms),
            ),
            (
                ("default_lease_ms", self.default_lease_ms),
                ("max_lease_ms", self.max_lease_ms),
            ),
        ];
        for ((low, least), (high, most)) in ordered {
            if least > most {
                return breach(format!(
                    "{low} of {least} is above {high} of {most}; lower the first or raise the second"
                ));
            }
        }
        if self.jitter_percent > 50 {
            return breach(format!(
                "jitter_percent is {}; use at most 50",
                self.jitter_percent
            ));
        }
        Ok(())
    }

    /// How often a lease of this length is renewed: a fifth of it, 10 s to 60 s, never more seldom
    /// than every third of it.
    pub fn interval_ms(&self, lease_ms: u64) -> u64 {
        (lease_ms / self.renewals_per_lease)
            .max(self.min_interval_ms)
            .min(self.max_interval_ms)
            .min(lease_ms / 3)
            .max(1)
    }

    /// The delay after a failure, for a lease that is renewed at this interval: never longer than
    /// the interval, and never zero.
    pub(crate) fn retry_ms(&self, hint_ms: Option<u64>, interval_ms: u64) -> u64 {
        let delay = hint_ms.map_or(self.retry_delay_ms, |hint| hint.max(self.min_throttle_ms));
        delay.min(interval_ms).max(1)
    }
}

fn breach(message: alloc::string::String) -> Result<(), Error> {
    Err(Error::new(ErrorKind::Configuration, message))
}
