//! For how long a lease is kept, and how often it is renewed.

use std::time::Duration;

use leaseline_core::Error;
use leaseline_core::renewal::{First, Settings, Start, Token, lease_seconds};
use tokio::time::Instant;

/// The terms of one renewal.
#[derive(Clone, Debug)]
pub struct Terms {
    lease_ms: u64,
    interval_ms: Option<u64>,
    ends_at: Option<Instant>,
    granted_ms: u64,
    longest_ms: Option<u64>,
    align_ms: u64,
}

impl Terms {
    /// A lease of so many seconds; none is 300. By the one rule for durations: whole seconds, at
    /// least 30, at most 3,600.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidArgument`](leaseline_core::ErrorKind::InvalidArgument) for what is no
    /// duration of a lease.
    pub fn of_seconds(seconds: Option<f64>) -> Result<Self, Error> {
        Self::under(&Settings::default(), seconds)
    }

    /// The same under other settings.
    ///
    /// # Errors
    ///
    /// As [`of_seconds`](Self::of_seconds).
    pub fn under(settings: &Settings, seconds: Option<f64>) -> Result<Self, Error> {
        let seconds = lease_seconds(settings, seconds, "lease_duration")?;
        Ok(Self::exactly(Duration::from_secs(seconds)))
    }

    /// A lease of exactly this length, which its server has rules of its own for. Renewed at least
    /// three times in its length, however short.
    pub fn exactly(lease: Duration) -> Self {
        let lease_ms = millis(lease);
        Self {
            lease_ms,
            interval_ms: None,
            ends_at: None,
            granted_ms: lease_ms,
            longest_ms: None,
            align_ms: 0,
        }
    }

    /// Renews it this often instead.
    pub fn every(mut self, interval: Duration) -> Self {
        self.interval_ms = Some(millis(interval));
        self
    }

    /// The server granted less than the renewals will ask for; the first one is made in time.
    pub fn granted(mut self, lease: Duration) -> Self {
        self.granted_ms = millis(lease);
        self
    }

    /// The lease is known to end so long from now: it is renewed for the first time ten seconds
    /// before.
    pub fn ends_in(mut self, left: Duration) -> Self {
        self.ends_at = Instant::now().checked_add(left);
        self
    }

    /// Renews it up to so much earlier, if others that may be so early are due then: they share a
    /// request.
    pub fn early(mut self, early: Duration) -> Self {
        self.align_ms = u64::try_from(early.as_millis()).unwrap_or(u64::MAX);
        self
    }

    /// Keeps it no longer than this after the start.
    pub fn longest(mut self, longest: Option<Duration>) -> Self {
        self.longest_ms = longest.map(millis);
        self
    }

    pub(crate) fn start(&self, token: Token) -> Start {
        Start {
            token,
            lease_ms: self.lease_ms,
            interval_ms: self.interval_ms,
            first: match self.ends_at {
                Some(end) => {
                    let left = end.saturating_duration_since(Instant::now());
                    First::EndsIn(u64::try_from(left.as_millis()).unwrap_or(u64::MAX))
                }
                None => First::Granted(self.granted_ms),
            },
            align_ms: self.align_ms,
            longest_ms: self.longest_ms,
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis())
        .unwrap_or(u64::MAX)
        .max(1)
}
