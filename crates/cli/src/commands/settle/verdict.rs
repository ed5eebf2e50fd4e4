//! What became of leases that were handed back: the results of `ack`, `fail`, `renew` and
//! `release`.

use leaseline::message::Lease;
use leaseline::{Error, Retry};
use serde::Serialize;

use crate::failure::Failure;
use crate::messages::Messages;
use crate::output::Output;
use crate::printable;
use crate::status::Status;

/// Leases that are sent before their outcomes are printed.
const BATCH: usize = 100;

/// What became of one lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The message has ended.
    Settled,
    /// The lease has this deadline.
    Renewed(u64),
    /// The message can be claimed from this time on.
    Released(u64),
    /// The lease is not current; nothing was changed.
    Stale,
}

/// The answer to one lease.
pub(crate) type Answer = Result<Verdict, Error>;

/// The JSON form.
#[derive(Serialize)]
struct Object<'a> {
    outcome: &'static str,
    message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deadline_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_ms: Option<u64>,
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

    /// Hands leases back in batches, and prints what became of each.
    pub(crate) async fn of(
        mut self,
        leases: &[Lease],
        hand_back: impl AsyncFn(&[Lease]) -> Vec<Answer>,
    ) -> Result<Status, Failure> {
        for batch in leases.chunks(BATCH) {
            for (lease, answer) in batch.iter().zip(hand_back(batch).await) {
                self.add(lease.message_id(), answer)?;
            }
            self.output.flush()?;
        }
        Ok(self.finish())
    }

    /// Prints one. A failure goes to standard error too, and does not end the command: the others
    /// are handed back on their own.
    fn add(&mut self, message_id: Option<String>, answer: Answer) -> Result<(), Failure> {
        let outcome = match &answer {
            Ok(Verdict::Stale) => "stale",
            Ok(_) => "done",
            Err(error) if error.retry == Retry::Unknown => "unknown",
            Err(_) => "failed",
        };
        if outcome != "done" {
            self.status = Status::Failed;
        }
        let mut object = Object {
            outcome,
            message_id: message_id.as_deref(),
            deadline_ms: None,
            due_ms: None,
        };
        let mut until = String::new();
        match answer {
            Ok(Verdict::Renewed(deadline)) => {
                object.deadline_ms = Some(deadline);
                until = format!(", leased until {deadline} ms");
            }
            Ok(Verdict::Released(due)) => {
                object.due_ms = Some(due);
                until = format!(", due at {due} ms");
            }
            _ => {}
        }
        let id = printable::line(message_id.as_deref().unwrap_or("message without id"));
        self.output
            .result(&object, format_args!("{outcome} {id}{until}"))?;
        match answer {
            Err(error) => self.messages.failure(&error.into()),
            Ok(Verdict::Stale) => self.stale += 1,
            Ok(_) => {}
        }
        Ok(())
    }

    /// Ends the list.
    fn finish(self) -> Status {
        if self.stale > 0 {
            self.messages.note(&format!(
                "{} stale: those leases had ended, and their messages are settled or belong to other claims; nothing was changed for them",
                self.stale
            ));
        }
        self.status
    }
}
