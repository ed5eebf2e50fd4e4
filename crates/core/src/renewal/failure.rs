//! What a failed extension means, and when an update after the handler is sent again.

use super::Settings;

/// Why a lease was not extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Failure {
    /// There is no such message any more.
    Gone,
    /// The server will not extend it, now or later: the lease has passed on, or has ended.
    Refused,
    /// The server asks for fewer requests, and perhaps for a pause of so many milliseconds.
    Throttled(Option<u64>),
    /// The server could not be reached.
    Connection,
    /// The server answered with an error that may pass.
    Transient,
    /// Something else went wrong: a defect of the program, or a request that took too long.
    Unexpected,
}

impl Failure {
    /// The failure that an HTTP status stands for. `hint_ms` is what a 429 asks for.
    pub fn from_status(status: u16, hint_ms: Option<u64>) -> Self {
        match status {
            429 => Self::Throttled(hint_ms),
            404 | 410 => Self::Gone,
            408 => Self::Transient,
            400..=499 => Self::Refused,
            _ => Self::Transient,
        }
    }
}

/// How an extension ended.
pub type Outcome = Result<(), Failure>;

/// The retries of one update that is made after the handler: an `extend`, an acknowledgement.
#[derive(Clone, Debug)]
pub struct FollowUp {
    attempts_left: u32,
    delay_ms: u64,
    min_throttle_ms: u64,
    max_delay_ms: u64,
}

impl FollowUp {
    /// Before the first attempt.
    pub fn new(settings: &Settings) -> Self {
        Self {
            attempts_left: settings.follow_up_attempts.saturating_sub(1),
            delay_ms: settings.follow_up_delay_ms,
            min_throttle_ms: settings.min_throttle_ms,
            max_delay_ms: settings.max_follow_up_delay_ms,
        }
    }

    /// An attempt failed so. In how many milliseconds the next one is due; none: give up.
    pub fn failed(&mut self, failure: Failure) -> Option<u64> {
        let delay_ms = match failure {
            Failure::Connection => self.delay_ms,
            Failure::Throttled(Some(hint)) => hint.max(self.min_throttle_ms).min(self.max_delay_ms),
            _ => return None,
        };
        self.attempts_left = self.attempts_left.checked_sub(1)?;
        Some(delay_ms)
    }
}
