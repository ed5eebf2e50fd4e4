//! Names of the queue's keys, exactly those of `redis-message-queue` 8.3.0.
//!
//! Lists are `name + separator + word`. Lease and claim metadata hang on the processing key
//! behind a single colon that does not follow the separator.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The keys of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// List of stored messages; the tail is claimed next.
    pub pending: String,
    /// List of stored messages in flight.
    pub processing: String,
    /// List of acknowledged payloads.
    pub completed: String,
    /// List of failed payloads.
    pub failed: String,
    /// List of dead-lettered payloads; a placeholder that is never written when the queue has no
    /// delivery limit.
    pub dead_letters: String,
    /// What deduplication keys start with.
    pub deduplication_prefix: String,
    /// Sorted set: stored message to deadline.
    pub lease_deadlines: String,
    /// Hash: stored message to fencing token.
    pub lease_tokens: String,
    /// The last fencing token.
    pub lease_token_counter: String,
    /// Hash: stored message to claims granted.
    pub delivery_counts: String,
    /// Hash: fencing token to the name of its claim-result key.
    pub claim_refs: String,
    /// Hash: claim id to claim record.
    pub claim_ids: String,
    /// Hash: fencing token (or stored message, without leases) to claim id.
    pub claim_backrefs: String,
    /// Sorted set: fencing token of a released message to when it is due. A key of our own; it
    /// ends with the last of them.
    pub delays: String,
}

impl Keys {
    /// The keys of the queue `name`; `dead_letters` overrides the dead-letter list of a queue
    /// with a delivery limit.
    pub(crate) fn new(
        name: &str,
        separator: &str,
        limited: bool,
        dead_letters: Option<&str>,
    ) -> Self {
        let list = |word: &str| format!("{name}{separator}{word}");
        let processing = list("processing");
        let meta = |word: &str| format!("{processing}:{word}");
        Self {
            pending: list("pending"),
            completed: list("completed"),
            failed: list("failed"),
            dead_letters: match dead_letters {
                _ if !limited => meta("dead_letter_placeholder"),
                Some(key) => key.into(),
                None => list("dlq"),
            },
            deduplication_prefix: format!("{}{separator}", list("deduplication")),
            lease_deadlines: meta("lease_deadlines"),
            lease_tokens: meta("lease_tokens"),
            lease_token_counter: meta("lease_token_counter"),
            delivery_counts: meta("delivery_counts"),
            claim_refs: meta("claim_result_refs"),
            claim_ids: meta("claim_result_ids"),
            claim_backrefs: meta("claim_result_backrefs"),
            delays: meta("delays"),
            processing,
        }
    }

    /// The claim-result key of a claim id.
    pub fn claim_result(&self, claim_id: &str) -> String {
        format!("{}:claim_result:{claim_id}", self.processing)
    }

    /// The key that remembers a user's deduplication key.
    pub fn deduplication(&self, user_key: &[u8]) -> Vec<u8> {
        [self.deduplication_prefix.as_bytes(), user_key].concat()
    }

    /// The marker of a deduplicated publish.
    pub fn publish_marker(deduplication_key: &[u8], operation_id: &str) -> Vec<u8> {
        [
            deduplication_key,
            b":publish_operation_result:",
            operation_id.as_bytes(),
        ]
        .concat()
    }

    /// The marker of a plain publish: a key of our own, since the original has none.
    pub fn add_marker(&self, operation_id: &str) -> String {
        format!("{}:publish_operation_result:{operation_id}", self.pending)
    }

    /// The marker of a settlement, a release, and a return to pending.
    pub fn operation_marker(&self, token: Option<&str>, operation_id: &str) -> String {
        match token {
            Some(token) => format!(
                "{}:operation_result:{token}:{operation_id}",
                self.processing
            ),
            None => format!("{}:operation_result:{operation_id}", self.processing),
        }
    }

    /// The marker of a purge of `list`: a key of our own.
    pub fn purge_marker(&self, operation_id: &str) -> String {
        format!("{}:purge_operation_result:{operation_id}", self.pending)
    }

    /// The marker of a redrive: a key of our own.
    pub fn redrive_marker(&self, operation_id: &str) -> String {
        format!("{}:redrive_operation_result:{operation_id}", self.pending)
    }
}
