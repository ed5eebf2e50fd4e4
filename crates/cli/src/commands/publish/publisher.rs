//! Messages on their way out: gathered into batches, sent, and reported.

use std::fmt;

use leaseline::message::{Outgoing, Payload, PublishReply};
use leaseline::{Error, ErrorKind, Queue, Retry};

use super::tally::{Kind, Tally};
use crate::failure::Failure;
use crate::output::Output;

/// The payload bytes of one batch, unless a single message has more. The component's memory is
/// limited, and it holds a batch several times.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// Where a message came from, counted from 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    Message(u64),
    Line(u64),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(number) => write!(f, "message {number}"),
            Self::Line(number) => write!(f, "line {number}"),
        }
    }
}

/// Whether messages may follow a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum More {
    Maybe,
    No,
}

/// Gathers messages and publishes them in batches.
pub(super) struct Publisher<'a> {
    queue: Queue,
    output: &'a mut Output,
    batch_size: usize,
    deduplication_key: Option<Vec<u8>>,
    delay_ms: u64,
    /// Payloads are JSON objects.
    json: bool,
    /// Count instead of printing each message.
    summary: bool,
    batch: Vec<Outgoing>,
    origins: Vec<Origin>,
    bytes: usize,
    tally: Tally,
}

impl<'a> Publisher<'a> {
    pub(super) fn new(queue: Queue, output: &'a mut Output, batch_size: usize) -> Self {
        Self {
            queue,
            output,
            batch_size,
            deduplication_key: None,
            delay_ms: 0,
            json: false,
            summary: false,
            batch: Vec::new(),
            origins: Vec::new(),
            bytes: 0,
            tally: Tally::default(),
        }
    }

    /// Publishes the following message under this key.
    pub(super) fn deduplicate(&mut self, key: Vec<u8>) {
        self.deduplication_key = Some(key);
    }

    /// Publishes the following messages so that nobody can claim them before this time is over.
    pub(super) fn delay(&mut self, delay_ms: u64) {
        self.delay_ms = delay_ms;
    }

    /// The following payloads are JSON objects.
    pub(super) fn expect_json(&mut self) {
        self.json = true;
    }

    /// From now on messages are counted for people, and not printed.
    pub(super) fn summarize(&mut self) {
        self.summary = true;
    }

    /// Adds a message, and sends the batch that it fills.
    pub(super) async fn push(&mut self, payload: Vec<u8>, origin: Origin) -> Result<(), Failure> {
        let length = payload.len();
        let payload = if self.json {
            match String::from_utf8(payload) {
                Ok(text) => Payload::Json(text),
                Err(_) => return self.refuse(origin).await,
            }
        } else {
            Payload::Bytes(payload)
        };
        if self.bytes + length > MAX_BATCH_BYTES {
            self.flush().await?;
        }
        self.bytes += length;
        self.origins.push(origin);
        self.batch.push(Outgoing {
            payload,
            deduplication_key: self.deduplication_key.clone(),
            delay_ms: self.delay_ms,
        });
        if self.batch.len() >= self.batch_size {
            self.flush().await?;
        }
        Ok(())
    }

    /// Ends with a payload that is no text. What came before it is published, as it would have been
    /// one by one.
    async fn refuse(&mut self, origin: Origin) -> Result<(), Failure> {
        self.flush().await?;
        self.report()?;
        let message = format!(
            "{origin} is not JSON, which is UTF-8; correct it, or publish it without --json-payload; nothing from it on was sent"
        );
        Err(Error::new(ErrorKind::InvalidArgument, message).into())
    }

    /// Sends what was gathered; more may follow.
    ///
    /// A batch in which a message failed is the last: with a server that is down or a queue that
    /// is full, going on would only lose more, and whoever repeats the rest must know where it
    /// begins.
    pub(super) async fn flush(&mut self) -> Result<(), Failure> {
        self.send(More::Maybe).await
    }

    async fn send(&mut self, more: More) -> Result<(), Failure> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.batch);
        let origins = std::mem::take(&mut self.origins);
        self.bytes = 0;
        let replies = self.queue.publish_all(batch).await;
        for reply in &replies {
            self.tally.count(Kind::of(&reply.outcome));
        }
        let shown = replies
            .iter()
            .try_for_each(|reply| self.print(Kind::of(&reply.outcome), reply))
            .and_then(|()| self.output.flush());
        if let Err(failure) = shown {
            return Err(self.unreported(&failure, &origins));
        }
        let failed = |(reply, &origin): (PublishReply, _)| Some((origin, reply.outcome.err()?));
        let failures = replies.into_iter().zip(&origins).filter_map(failed);
        match describe(failures.collect(), &origins, more) {
            None => Ok(()),
            Some(error) => {
                self.report()?;
                Err(error.into())
            }
        }
    }

    /// The messages are published, and nobody can be told which: repeating them would do it twice.
    fn unreported(&self, failure: &Failure, batch: &[Origin]) -> Failure {
        let last = batch.last().map(Origin::to_string).unwrap_or_default();
        Failure::io(format!(
            "{failure}; up to {last}: {}; nothing after it was sent",
            self.tally
        ))
    }

    /// Sends the rest and prints the summary.
    pub(super) async fn finish(mut self) -> Result<(), Failure> {
        self.send(More::No).await?;
        self.report()
    }

    fn print(&mut self, kind: Kind, reply: &PublishReply) -> Result<(), Failure> {
        if self.output.is_json() {
            return self.output.object(&kind.object(&reply.message_id));
        }
        // The error line tells about the others.
        if self.summary || reply.outcome.is_err() {
            return Ok(());
        }
        self.output
            .line(format_args!("{} {}", kind.name(), reply.message_id))
    }

    /// Prints the summary, if there is to be one.
    pub(super) fn report(&mut self) -> Result<(), Failure> {
        if self.summary && !self.output.is_json() {
            self.output.line(&self.tally)?;
            self.output.flush()?;
        }
        Ok(())
    }
}

/// How much a kind of error leaves in doubt: whoever repeats the rest must know the worst.
fn doubt(error: &Error) -> u8 {
    match (error.kind, error.retry) {
        (ErrorKind::OutcomeUnknown, _) => 2,
        (_, Retry::Yes) => 1,
        _ => 0,
    }
}

/// One error for the failures of a batch: the first of those that leave most in doubt, and the first
/// of each other kind in its text.
fn describe(failures: Vec<(Origin, Error)>, batch: &[Origin], more: More) -> Option<Error> {
    let failed = failures.len();
    let worst = failures.iter().map(|(_, error)| doubt(error)).max()?;
    let (origin, mut error) = failures
        .iter()
        .find(|(_, error)| doubt(error) == worst)
        .cloned()?;
    let mut kinds = vec![error.kind];
    for (other, failure) in &failures {
        if !kinds.contains(&failure.kind) {
            kinds.push(failure.kind);
            error.message = format!("{}; {other}: {}", error.message, failure.message);
        }
    }
    if batch.len() > 1 || matches!(origin, Origin::Line(_)) {
        let messages = if failed == 1 { "message" } else { "messages" };
        error.message = format!(
            "{failed} {messages} failed, first {origin}: {}",
            error.message
        );
    }
    if let (More::Maybe, Some(last)) = (more, batch.last()) {
        error.message = format!("{}; nothing after {last} was sent", error.message);
    }
    Some(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_told_by_what_leaves_most_in_doubt() {
        let failed = |line, kind, message| (Origin::Line(line), Error::new(kind, message));
        let bad = failed(2, ErrorKind::InvalidArgument, "no JSON");
        let down = failed(3, ErrorKind::Unavailable, "no server");
        let lost = failed(4, ErrorKind::OutcomeUnknown, "no answer");
        let batch = [1, 2, 3, 4].map(Origin::Line);
        for (failures, kind) in [
            (vec![bad.clone()], ErrorKind::InvalidArgument),
            (vec![bad.clone(), down.clone()], ErrorKind::Unavailable),
            (vec![bad, down, lost], ErrorKind::OutcomeUnknown),
        ] {
            let error = describe(failures.clone(), &batch, More::Maybe).unwrap();
            assert_eq!(error.kind, kind);
            for (origin, failure) in failures {
                let told = format!("{origin}: {}", failure.message);
                assert!(error.message.contains(&told), "{error}");
            }
            assert!(
                error.message.ends_with("nothing after line 4 was sent"),
                "{error}"
            );
        }
    }
}
