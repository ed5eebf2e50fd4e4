//! Events, from the guest.

use leaseline_core::event::{Event, EventBatch, Operation, Outcome};

use super::error::error;
use crate::bindings::exports::leaseline::queue::queue as types;

pub(crate) fn event_batch(batch: types::EventBatch) -> EventBatch {
    EventBatch {
        events: batch.events.into_iter().map(event).collect(),
        dropped: batch.dropped,
    }
}

fn event(event: types::Event) -> Event {
    let mut result = Event::new(operation(event.operation), outcome(event.outcome));
    result.message_id = event.message_id;
    result.claim_id = event.claim_id;
    result.lease_token_hash = event.lease_token_hash;
    result.destination = event.destination;
    result.delivery_count = event.delivery_count;
    result.max_delivery_count = event.max_delivery_count;
    result.duration_ms = event.duration_ms;
    result.error = event.error.map(error);
    result.reason = event.reason;
    result.timeout_ms = event.timeout_ms;
    result.pending_claim_ids = event.pending_claim_ids;
    result.replayed = event.replayed;
    result
}

fn operation(operation: types::Operation) -> Operation {
    match operation {
        types::Operation::Publish => Operation::Publish,
        types::Operation::PublishDedupHit => Operation::PublishDedupHit,
        types::Operation::Claim => Operation::Claim,
        types::Operation::ClaimEmpty => Operation::ClaimEmpty,
        types::Operation::ClaimReclaim => Operation::ClaimReclaim,
        types::Operation::Ack => Operation::Ack,
        types::Operation::Nack => Operation::Nack,
        types::Operation::Dlq => Operation::Dlq,
        types::Operation::Completed => Operation::Completed,
        types::Operation::Failed => Operation::Failed,
        types::Operation::LeaseRenew => Operation::LeaseRenew,
        types::Operation::LeaseRenewFailed => Operation::LeaseRenewFailed,
        types::Operation::HeartbeatStopTimeout => Operation::HeartbeatStopTimeout,
        types::Operation::StaleLeaseAck => Operation::StaleLeaseAck,
        types::Operation::StaleLeaseNack => Operation::StaleLeaseNack,
        types::Operation::CleanupFailed => Operation::CleanupFailed,
        types::Operation::TrimFailed => Operation::TrimFailed,
        types::Operation::RetryAttempt => Operation::RetryAttempt,
        types::Operation::RetryExhausted => Operation::RetryExhausted,
        types::Operation::Drain => Operation::Drain,
    }
}

fn outcome(outcome: types::EventOutcome) -> Outcome {
    match outcome {
        types::EventOutcome::Success => Outcome::Success,
        types::EventOutcome::Failure => Outcome::Failure,
        types::EventOutcome::Skipped => Outcome::Skipped,
        types::EventOutcome::Start => Outcome::Start,
    }
}
