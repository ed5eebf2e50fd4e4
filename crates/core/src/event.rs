//! Typed events, buffered until the host takes them.
//!
//! Events are pulled and not pushed, so that an observer may call the queue again.

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::Error;

/// What an event reports: the twenty operations of `redis-message-queue`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// A message was enqueued, or a publish failed.
    Publish,
    /// A publish was a duplicate.
    PublishDedupHit,
    /// A message was claimed, or a claim failed.
    Claim,
    /// There was nothing to claim.
    ClaimEmpty,
    /// An expired lease was returned to pending, or a lost claim was recovered.
    ClaimReclaim,
    /// A message was acknowledged.
    Ack,
    /// A failed message was settled.
    Nack,
    /// A message was dead-lettered.
    Dlq,
    /// An acknowledged payload went to the completed log.
    Completed,
    /// A message failed.
    Failed,
    /// A lease was renewed.
    LeaseRenew,
    /// A lease could not be renewed.
    LeaseRenewFailed,
    /// A heartbeat did not stop in time.
    HeartbeatStopTimeout,
    /// An acknowledgement came from a stale lease.
    StaleLeaseAck,
    /// A failure report came from a stale lease.
    StaleLeaseNack,
    /// A settlement failed.
    CleanupFailed,
    /// A log could not be cut to its length.
    TrimFailed,
    /// A claim attempt failed and is repeated.
    RetryAttempt,
    /// A claim gave up.
    RetryExhausted,
    /// A drain started or ended.
    Drain,
}

/// How the reported operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It took effect.
    Success,
    /// It failed.
    Failure,
    /// It did nothing, rightly.
    Skipped,
    /// It began.
    Start,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// What it reports.
    pub operation: Operation,
    /// How it ended.
    pub outcome: Outcome,
    /// The message concerned.
    pub message_id: Option<String>,
    /// The claim concerned.
    pub claim_id: Option<String>,
    /// The first 16 hexadecimal digits of the SHA-256 of the fencing token.
    pub lease_token_hash: Option<String>,
    /// The list that received the payload.
    pub destination: Option<String>,
    /// Claims of the message so far.
    pub delivery_count: Option<u64>,
    /// The configured limit.
    pub max_delivery_count: Option<u32>,
    /// How long the operation took.
    pub duration_ms: Option<u64>,
    /// Why it failed.
    pub error: Option<Error>,
    /// Why the handler failed, for [`Operation::Failed`], as the settlement told.
    pub reason: Option<String>,
    /// How long a drain may take, for [`Operation::Drain`].
    pub timeout_ms: Option<u64>,
    /// Claim ids still open, for [`Operation::Drain`].
    pub pending_claim_ids: Option<u32>,
    /// Told again, because the claim that caused it was replayed.
    pub replayed: bool,
}

impl Event {
    /// An event without details.
    pub fn new(operation: Operation, outcome: Outcome) -> Self {
        Self {
            operation,
            outcome,
            message_id: None,
            claim_id: None,
            lease_token_hash: None,
            destination: None,
            delivery_count: None,
            max_delivery_count: None,
            duration_ms: None,
            error: None,
            reason: None,
            timeout_ms: None,
            pending_claim_ids: None,
            replayed: false,
        }
    }
}

/// Events in the order they happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventBatch {
    /// The events.
    pub events: Vec<Event>,
    /// Events dropped because the buffer was full, since the last batch.
    pub dropped: u64,
}

/// A bounded buffer: when it is full, the oldest event makes room and is counted.
#[derive(Debug)]
pub(crate) struct EventBuffer {
    events: VecDeque<Event>,
    capacity: usize,
    dropped: u64,
}

impl EventBuffer {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            events: VecDeque::new(),
            capacity,
            dropped: 0,
        }
    }

    pub(crate) fn push(&mut self, event: Event) {
        if self.events.len() >= self.capacity {
            self.dropped += 1;
            if self.events.pop_front().is_none() {
                return;
            }
        }
        self.events.push_back(event);
    }

    pub(crate) fn take(&mut self) -> EventBatch {
        EventBatch {
            events: core::mem::take(&mut self.events).into(),
            dropped: core::mem::take(&mut self.dropped),
        }
    }
}
