//! What goes into the queue's calls and comes out of them.

use alloc::string::String;
use alloc::vec::Vec;

use crate::envelope;
use crate::error::{Error, ErrorKind};
use crate::token;

/// What a message to publish carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Bytes as they are. Those that are not UTF-8 travel in a form that `redis-message-queue`
    /// reads from version 9.1.0 on.
    Bytes(Vec<u8>),
    /// The text of a JSON object, in any spelling. It is published in the one form that
    /// [`crate::json`] describes, and that is what consumers receive.
    Json(String),
}

impl Payload {
    /// Its bytes as they were given.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Json(text) => text.as_bytes(),
        }
    }
}

impl Default for Payload {
    fn default() -> Self {
        Self::Bytes(Vec::new())
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes)
    }
}

impl From<&str> for Payload {
    fn from(text: &str) -> Self {
        Self::Bytes(text.into())
    }
}

/// A message to publish.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// What it carries.
    pub payload: Payload,
    /// Messages with an equal key inside the deduplication window are published once.
    pub deduplication_key: Option<Vec<u8>>,
    /// How long nobody can claim the message; at most ten years. A message with a delay is not
    /// pending until a claim meets it after that time, so `max_pending_length` does not concern it.
    /// It needs a queue with leases.
    pub delay_ms: u64,
}

/// What became of a published message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PublishOutcome {
    /// It is in the queue.
    Published,
    /// Its deduplication key was seen before; nothing was enqueued.
    Duplicate,
}

/// The answer to one message of a publish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishReply {
    /// The id that was minted for it: 32 hexadecimal digits.
    pub message_id: String,
    /// What became of it.
    pub outcome: Result<PublishOutcome, Error>,
}

/// The right to settle a claimed message. It goes back to the queue as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The stored message, byte for byte.
    pub stored: Vec<u8>,
    /// The fencing token: decimal digits, to be compared as a number with other tokens of the
    /// same message id. A new claim of the message has a larger one. `None` for a claim without
    /// lease.
    pub token: Option<String>,
    /// When the lease expires, in milliseconds of server time since the Unix epoch.
    pub deadline_ms: Option<u64>,
    /// No renewal moves the deadline beyond this, in milliseconds of server time since the Unix
    /// epoch. It is the holder's own choice, and is stored nowhere.
    pub not_after_ms: Option<u64>,
}

impl Lease {
    /// The id in the stored message; `None` for one without a readable envelope.
    pub fn message_id(&self) -> Option<String> {
        envelope::decode(&self.stored, false).ok()?.id
    }

    /// The token, for calls that work only with one.
    pub(crate) fn valid_token(&self) -> Result<&str, Error> {
        self.token
            .as_deref()
            .filter(|token| token::is_valid(token))
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidArgument,
                    "the lease has no valid token; hand back the lease as the claim gave it",
                )
            })
    }
}

/// A claimed message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// `None` for messages that were stored without an envelope.
    pub message_id: Option<String>,
    /// The payload, or why the stored message has none. A malformed message stays claimed until
    /// it is settled like any other, or its lease brings it to the dead letters.
    pub payload: Result<Vec<u8>, Error>,
    /// What to hand back to settle or renew.
    pub lease: Lease,
    /// Claims of this message so far, this one included; 0 where there are no leases.
    pub delivery_count: u64,
    /// This claim was made before, and its reply was lost or too large for the host.
    pub replayed: bool,
}

/// How a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Done: removed, or its payload kept in the completed log.
    Ack,
    /// Failed for good: removed, or its payload kept in the failed log.
    Fail,
}

/// A settlement of one lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettleRequest {
    /// The lease that came with the delivery.
    pub lease: Lease,
    /// How the message ends.
    pub settlement: Settlement,
    /// Why it failed, for the event [`Failed`](crate::event::Operation::Failed); not stored.
    pub reason: Option<String>,
}

/// What became of a settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettleOutcome {
    /// The message is settled.
    Done,
    /// The lease is not current; nothing was changed.
    Stale,
}

/// What became of a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenewOutcome {
    /// The new deadline, in milliseconds of server time.
    Renewed(u64),
    /// The lease is not current; nothing was changed.
    Stale,
}

/// The release of one lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseRequest {
    /// The lease that came with the delivery.
    pub lease: Lease,
    /// How long nobody can claim the message; at most ten years. After 0 the next claim can.
    pub delay_ms: u64,
}

/// What became of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// When the message can be claimed again, in milliseconds of server time.
    Released(u64),
    /// The lease is not current; nothing was changed.
    Stale,
}

/// One of the lists of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Messages that can be claimed.
    Pending,
    /// Messages that are claimed or delayed.
    Processing,
    /// The log of acknowledged payloads.
    Completed,
    /// The log of failed payloads.
    Failed,
    /// Payloads of messages that were claimed too often.
    DeadLetters,
}

/// A message that was looked at and not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peeked {
    /// `None` for messages stored without an envelope, and in logs and dead letters.
    pub message_id: Option<String>,
    /// The payload, or why the stored message has none.
    pub payload: Result<Vec<u8>, Error>,
    /// Claims of this message so far; 0 in logs and dead letters.
    pub delivery_count: u64,
    /// When its lease or its delay ends, in milliseconds of server time.
    pub deadline_ms: Option<u64>,
    /// How long until then; negative if it is over and no claim has met it yet.
    pub remaining_ms: Option<i64>,
    /// It was released and is not due yet: nobody holds it.
    pub delayed: bool,
}

/// How many messages are where, all at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Messages that can be claimed.
    pub pending: u64,
    /// Messages that are claimed and not settled. Those that are overdue, delayed ones too, are
    /// among them until a claim brings them back.
    pub processing: u64,
    /// Messages that were published or released with a delay and are not due yet.
    pub delayed: u64,
    /// Leases and delays that are over and that no claim has met yet. Every claim brings a hundred
    /// of them back, so a number that stays says that nobody claims.
    pub overdue: u64,
    /// How long ago, by the server's clock, the oldest of the overdue ones was due. A stored
    /// message has no time of publishing, so there is no age of pending ones.
    pub oldest_overdue_ms: Option<u64>,
    /// How long, by the server's clock, until the first of the leases that run now ends.
    ///
    /// How long a message has been in flight is stored nowhere: a deadline is the time of the claim
    /// or of the last renewal plus the visibility timeout of whoever made it. Where all of them use
    /// the same one, the message that was claimed or renewed longest ago was so that timeout less
    /// this long ago.
    pub next_lease_end_ms: Option<u64>,
    /// How long until the last of them ends.
    pub last_lease_end_ms: Option<u64>,
    /// Payloads in the completed log.
    pub completed: u64,
    /// Payloads in the failed log.
    pub failed: u64,
    /// Payloads in the dead-letter list.
    pub dead_letters: u64,
}
