//! What became of published messages.

use std::fmt;

use leaseline::message::PublishOutcome;
use leaseline::{Error, ErrorKind, Retry};
use serde::Serialize;

/// What became of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It is in the queue.
    Published,
    /// Its deduplication key was seen before.
    Duplicate,
    /// There was no room.
    Full,
    /// It may be in the queue.
    Unknown,
    /// It is not in the queue, for another reason.
    Failed,
}

/// The JSON form.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    outcome: &'static str,
    message_id: Option<&'a str>,
}

impl Kind {
    pub(super) fn of(outcome: &Result<PublishOutcome, Error>) -> Self {
        match outcome {
            Ok(PublishOutcome::Published) => Self::Published,
            Ok(PublishOutcome::Duplicate) => Self::Duplicate,
            Err(error) if error.retry == Retry::Unknown => Self::Unknown,
            Err(error) if error.kind == ErrorKind::Backpressure => Self::Full,
            Err(_) => Self::Failed,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::Duplicate => "duplicate",
            Self::Full => "full",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
        }
    }

    /// The JSON form; an engine that broke gives no id.
    pub(super) fn object(self, message_id: &str) -> Object<'_> {
        Object {
            outcome: self.name(),
            message_id: (!message_id.is_empty()).then_some(message_id),
        }
    }
}

/// How many messages ended in which way.
#[derive(Debug, Default)]
pub(super) struct Tally {
    published: u64,
    duplicate: u64,
    full: u64,
    unknown: u64,
    failed: u64,
}

impl Tally {
    pub(super) fn count(&mut self, kind: Kind) {
        match kind {
            Kind::Published => self.published += 1,
            Kind::Duplicate => self.duplicate += 1,
            Kind::Full => self.full += 1,
            Kind::Unknown => self.unknown += 1,
            Kind::Failed => self.failed += 1,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "published {}, duplicate {}",
            self.published, self.duplicate
        )?;
        for (name, count) in [
            ("full", self.full),
            ("unknown", self.unknown),
            ("failed", self.failed),
        ] {
            if count > 0 {
                write!(f, ", {name} {count}")?;
            }
        }
        Ok(())
    }
}
