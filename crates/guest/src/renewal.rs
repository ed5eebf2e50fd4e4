//! The exported interface `renewal`.

use alloc::vec::Vec;
use core::cell::RefCell;

use leaseline_core::renewal::{
    self as core_renewal, Action, DurationError, Failure, First, Lost, Settings, Start, Started,
    Stopping, Token,
};

use crate::Component;
use crate::bindings::exports::leaseline::queue::renewal as wit;
use crate::bindings::types;
use crate::convert;

impl wit::Guest for Component {
    type Table = TableResource;

    fn default_settings() -> wit::Settings {
        let settings = Settings::default();
        wit::Settings {
            default_lease_ms: settings.default_lease_ms,
            min_lease_ms: settings.min_lease_ms,
            max_lease_ms: settings.max_lease_ms,
            renewals_per_lease: settings.renewals_per_lease,
            min_interval_ms: settings.min_interval_ms,
            max_interval_ms: settings.max_interval_ms,
            deadline_grace_ms: settings.deadline_grace_ms,
            due_now_delay_ms: settings.due_now_delay_ms,
            retry_delay_ms: settings.retry_delay_ms,
            min_throttle_ms: settings.min_throttle_ms,
            jitter_percent: settings.jitter_percent,
            default_retry_after_ms: settings.default_retry_after_ms,
            stopped_memory: u32::try_from(settings.stopped_memory).unwrap_or(u32::MAX),
            stop_timeout_ms: settings.stop_timeout_ms,
        }
    }

    fn visibility_seconds(settings: wit::Settings, seconds: f64) -> Result<u64, types::Error> {
        core_renewal::visibility_seconds(&given(&settings), seconds, "duration").map_err(refused)
    }

    fn lease_seconds(settings: wit::Settings, seconds: Option<f64>) -> Result<u64, types::Error> {
        core_renewal::lease_seconds(&given(&settings), seconds, "lease_duration").map_err(refused)
    }

    fn retry_seconds(settings: wit::Settings, seconds: Option<f64>) -> Result<u64, types::Error> {
        core_renewal::retry_seconds(&given(&settings), seconds, "delay").map_err(refused)
    }
}

fn refused(error: DurationError<'_>) -> types::Error {
    convert::error(error.into())
}

/// A table; calls are not reentrant, so the cell is never borrowed twice.
pub(crate) struct TableResource(RefCell<core_renewal::Table>);

impl wit::GuestTable for TableResource {
    fn open(settings: wit::Settings, seed: u64) -> Result<wit::Table, types::Error> {
        let settings = given(&settings);
        settings.validate().map_err(convert::error)?;
        let table = core_renewal::Table::new(settings, seed);
        Ok(wit::Table::new(Self(RefCell::new(table))))
    }

    fn start(&self, now_ms: u64, start: wit::Start) -> wit::Started {
        let start = Start {
            token: Token(start.token),
            lease_ms: start.lease_ms,
            interval_ms: start.interval_ms,
            first: match start.first {
                wit::First::EndsIn(left) => First::EndsIn(left),
                wit::First::Granted(granted) => First::Granted(granted),
            },
            align_ms: start.align_ms,
            longest_ms: start.longest_ms,
        };
        match self.0.borrow_mut().start(now_ms, &start) {
            Started::Scheduled => wit::Started::Scheduled,
            Started::StoppedBefore => wit::Started::StoppedBefore,
            Started::Duplicate => wit::Started::Duplicate,
        }
    }

    fn stop(&self, now_ms: u64, token: u64, wait: bool) -> wit::Stopping {
        match self.0.borrow_mut().stop(now_ms, Token(token), wait) {
            Stopping::Done => wit::Stopping::Done,
            Stopping::Waiting => wit::Stopping::Waiting,
            Stopping::Cancel => wit::Stopping::Cancel,
        }
    }

    fn poll(&self, now_ms: u64, max: u32) -> Vec<wit::Action> {
        let actions = self.0.borrow_mut().poll(now_ms, max as usize);
        actions.into_iter().filter_map(action).collect()
    }

    fn finished(&self, now_ms: u64, token: u64, outcome: wit::Outcome) -> Option<wit::Action> {
        let outcome = match outcome {
            wit::Outcome::Extended => Ok(()),
            wit::Outcome::Gone => Err(Failure::Gone),
            wit::Outcome::Refused => Err(Failure::Refused),
            wit::Outcome::Throttled(hint_ms) => Err(Failure::Throttled(hint_ms)),
            wit::Outcome::Connection => Err(Failure::Connection),
            wit::Outcome::Transient => Err(Failure::Transient),
            wit::Outcome::Unexpected => Err(Failure::Unexpected),
        };
        let finished = self.0.borrow_mut().finished(now_ms, Token(token), outcome);
        finished.and_then(action)
    }

    fn recover(&self, now_ms: u64) -> Vec<wit::Action> {
        let actions = self.0.borrow_mut().recover(now_ms);
        actions.into_iter().filter_map(action).collect()
    }

    fn next_due_ms(&self) -> Option<u64> {
        self.0.borrow().next_due_ms()
    }

    fn counts(&self) -> wit::Counts {
        let table = self.0.borrow();
        let counts = table.counts();
        wit::Counts {
            active: counts.active,
            in_flight: counts.in_flight,
            extended: counts.extended,
            refused: counts.refused,
            throttled: counts.throttled,
            transient: counts.transient,
            unexpected: counts.unexpected,
            capped: counts.capped,
            stop_timeouts: counts.stop_timeouts,
            lag: counts.lag.to_vec(),
            max_lag_ms: counts.max_lag_ms,
        }
    }
}

fn given(given: &wit::Settings) -> Settings {
    let mut settings = Settings::default();
    settings.default_lease_ms = given.default_lease_ms;
    settings.min_lease_ms = given.min_lease_ms;
    settings.max_lease_ms = given.max_lease_ms;
    settings.renewals_per_lease = given.renewals_per_lease;
    settings.min_interval_ms = given.min_interval_ms;
    settings.max_interval_ms = given.max_interval_ms;
    settings.deadline_grace_ms = given.deadline_grace_ms;
    settings.due_now_delay_ms = given.due_now_delay_ms;
    settings.retry_delay_ms = given.retry_delay_ms;
    settings.min_throttle_ms = given.min_throttle_ms;
    settings.jitter_percent = given.jitter_percent;
    settings.stopped_memory = given.stopped_memory as usize;
    settings.stop_timeout_ms = given.stop_timeout_ms;
    settings.default_retry_after_ms = given.default_retry_after_ms;
    settings
}

/// Core may have further actions one day; a host of this interface cannot know them.
fn action(action: Action) -> Option<wit::Action> {
    Some(match action {
        Action::Extend { token, lease_ms } => wit::Action::Extend(wit::Extension {
            token: token.0,
            lease_ms,
        }),
        Action::Stopped { token } => wit::Action::Stopped(token.0),
        Action::StopTimedOut { token } => wit::Action::StopTimedOut(token.0),
        Action::Lost { token, why } => wit::Action::Lost(wit::Loss {
            token: token.0,
            why: match why {
                Lost::LongestTime => wit::Lost::LongestTime,
                _ => wit::Lost::Refused,
            },
        }),
        _ => return None,
    })
}
