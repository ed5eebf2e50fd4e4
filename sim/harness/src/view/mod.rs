//! A queue's keys as a checker reads them: messages are small numbers, and a copy is cheap.
//!
//! A view is read key by key, and only those keys again that a command wrote.

mod names;
mod read;

use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) use names::{Id, Message, Names, Payload};

/// What a claim record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) message: Message,
    /// 0 without leases.
    pub(crate) token: u64,
}

/// The keys of one queue. Lists are head first: the last one is claimed next.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct View {
    pub(crate) pending: Arc<Vec<Message>>,
    pub(crate) processing: Arc<Vec<Message>>,
    pub(crate) completed: Arc<Vec<Payload>>,
    pub(crate) failed: Arc<Vec<Payload>>,
    pub(crate) dead: Arc<Vec<Payload>>,
    /// In the order of the scores, ms of server time.
    pub(crate) deadlines: Arc<Vec<(Message, u64)>>,
    pub(crate) tokens: Arc<BTreeMap<Message, u64>>,
    pub(crate) counts: Arc<BTreeMap<Message, u64>>,
    /// Token to claim id.
    pub(crate) refs: Arc<BTreeMap<u64, Id>>,
    /// Claim id to record.
    pub(crate) ids: Arc<BTreeMap<Id, Record>>,
    /// Token, or message without leases, to claim id.
    pub(crate) backrefs: Arc<BTreeMap<u64, Id>>,
    /// Token to the time it is due, in the order of time.
    pub(crate) delays: Arc<Vec<(u64, u64)>>,
    pub(crate) counter: u64,
}

/// A key of a queue, by what comes behind the queue's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Pending,
    Processing,
    Completed,
    Failed,
    Dead,
    Deadlines,
    Tokens,
    Counts,
    Refs,
    Ids,
    Backrefs,
    Delays,
    Counter,
}

impl Part {
    pub(crate) const ALL: [Part; 13] = [
        Part::Pending,
        Part::Processing,
        Part::Completed,
        Part::Failed,
        Part::Dead,
        Part::Deadlines,
        Part::Tokens,
        Part::Counts,
        Part::Refs,
        Part::Ids,
        Part::Backrefs,
        Part::Delays,
        Part::Counter,
    ];

    /// What comes behind `q0::`.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Part::Pending => "pending",
            Part::Processing => "processing",
            Part::Completed => "completed",
            Part::Failed => "failed",
            Part::Dead => "dlq",
            Part::Deadlines => "processing:lease_deadlines",
            Part::Tokens => "processing:lease_tokens",
            Part::Counts => "processing:delivery_counts",
            Part::Refs => "processing:claim_result_refs",
            Part::Ids => "processing:claim_result_ids",
            Part::Backrefs => "processing:claim_result_backrefs",
            Part::Delays => "processing:delays",
            Part::Counter => "processing:lease_token_counter",
        }
    }

    pub(crate) fn key(self, queue: usize) -> String {
        format!("q{queue}::{}", self.suffix())
    }

    /// The part that a key is, with its queue; none for markers, records and deduplication keys.
    pub(crate) fn of(key: &[u8]) -> Option<(usize, Part)> {
        let queue = queue_of(key)?;
        let suffix = std::str::from_utf8(key.get(4..)?).ok()?;
        let part = Part::ALL.into_iter().find(|part| part.suffix() == suffix)?;
        Some((queue, part))
    }
}

/// The queue that a key belongs to.
pub(crate) fn queue_of(key: &[u8]) -> Option<usize> {
    match key {
        [b'q', digit @ b'0'..=b'9', b':', b':', ..] => Some(usize::from(digit - b'0')),
        _ => None,
    }
}

impl View {
    /// The deadline of a message.
    pub(crate) fn deadline(&self, message: Message) -> Option<u64> {
        let found = self.deadlines.iter().find(|(of, _)| *of == message);
        found.map(|(_, deadline)| *deadline)
    }

    /// Where a message is, if it is alive.
    pub(crate) fn holds(&self, message: Message) -> bool {
        self.pending.contains(&message) || self.processing.contains(&message)
    }
}
