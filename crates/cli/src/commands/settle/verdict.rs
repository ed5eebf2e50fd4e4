//! What became of leases that were handed back: the results of `ack`, `fail` and `renew`.

use leaseline::Retry;
use serde::Serialize;

use super::Answer;
use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::printable;
use crate::status::Status;

/// What became of one lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// What was asked for is done; a renewed lease has a new deadline.
    Done { deadline_ms: Option<u64> },
    /// The lease is not current; nothing was changed.
    Stale,
}

/// The JSON form.
#[derive(Serialize)]
struct Object<'a> {
    outcome: &'static str,
    message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline_ms: Option<u64>,
}

/// Prints verdicts in order, and knows how the command ends.
pub(crate) struct Verdicts<'a> {
    output: &'a mut Output,
    messages: &'a Messages,
    status: Status,
    stale: u64,
}

impl<'a> Verdicts<'a> {
    pub(crate) fn new(output: &'a mut Output, messages: &'a Messages) -> Self {
        Self {
            output,
            messages,
            status: Status::Done,
            stale: 0,
        }
    }

    /// Prints one. A failure goes to standard error too, and does not end the command: the others
    /// are settled on their own.
    pub(crate) fn add(
        &mut self,
        message_id: Option<String>,
        answer: Answer,
    ) -> Result<(), Failure> {
        let (outcome, deadline_ms) = match &answer {
            Ok(Verdict::Done { deadline_ms }) => ("done", *deadline_ms),
            Ok(Verdict::Stale) => ("stale", None),
            Err(error) if error.retry == Retry::Unknown => ("unknown", None),
            Err(_) => ("failed", None),
        };
        if answer.is_err() || outcome == "stale" {
            self.status = Status::Failed;
        }
        let object = Object {
            outcome,
            message_id: message_id.as_deref(),
            deadline_ms,
        };
        let id = printable::line(message_id.as_deref().unwrap_or("message without id"));
        match deadline_ms {
            Some(deadline) => self.output.result(
                &object,
                format_args!("{outcome} {id}, leased until {deadline} ms"),
            )?,
            None => self
                .output
                .result(&object, format_args!("{outcome} {id}"))?,
        }
        match answer {
            Err(error) => self.messages.failure(&error.into()),
            Ok(Verdict::Stale) => self.stale += 1,
            Ok(Verdict::Done { .. }) => {}
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.output.flush()
    }

    /// Ends the list.
    pub(crate) fn finish(self) -> Status {
        if self.stale > 0 {
            self.messages.note(&format!(
                "{} stale: those leases had ended, and their messages are settled or belong to other claims; nothing was changed for them",
                self.stale
            ));
        }
        self.status
    }
}
