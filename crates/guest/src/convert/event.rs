//! Events, to the world.

use leaseline_core::event::{Event, EventBatch, Operation, Outcome};

use super::error;
use crate::bindings::types;

pub(crate) fn event_batch(batch: EventBatch) -> types::EventBatch {
    types::EventBatch {
        // An operation that the world does not know yet cannot be told; it counts as dropped.
        dropped: batch.dropped
            + batch
                .events
                .iter()
                .filter(|e| operation(e.operation).is_none())
                .count() as u64,
        events: batch.events.into_iter().filter_map(event).collect(),
    }
}

fn event(event: Event) -> Option<types::Event> {
    Some(types::Event {
        operation: operation(event.operation)?,
        outcome: outcome(event.outcome),
        message_id: event.message_id,
        claim_id: event.claim_id,
        lease_token_hash: event.lease_token_hash,
        destination: event.destination,
        delivery_count: event.delivery_count,
        max_delivery_count: event.max_delivery_count,
        duration_ms: event.duration_ms,
        error: event.error.map(error),
        reason: event.reason,
        timeout_ms: event.timeout_ms,
        pending_claim_ids: event.pending_claim_ids,
        replayed: event.replayed,
    })
}

fn operation(operation: Operation) -> Option<types::Operation> {
    Some(match operation {
        Operation::Publish => types::Operation::Publish,
        Operation::PublishDedupHit => types::Operation::PublishDedupHit,
        Operation::Claim => types::Operation::Claim,
        Operation::ClaimEmpty => types::Operation::ClaimEmpty,
        Operation::ClaimReclaim => types::Operation::ClaimReclaim,
        Operation::Ack => types::Operation::Ack,
        Operation::Nack => types::Operation::Nack,
        Operation::Dlq => types::Operation::Dlq,
        Operation::Completed => types::Operation::Completed,
        Operation::Failed => types::Operation::Failed,
        Operation::LeaseRenew => types::Operation::LeaseRenew,
        Operation::LeaseRenewFailed => types::Operation::LeaseRenewFailed,
        Operation::HeartbeatStopTimeout => types::Operation::HeartbeatStopTimeout,
        Operation::StaleLeaseAck => types::Operation::StaleLeaseAck,
        Operation::StaleLeaseNack => types::Operation::StaleLeaseNack,
        Operation::CleanupFailed => types::Operation::CleanupFailed,
        Operation::TrimFailed => types::Operation::TrimFailed,
        Operation::RetryAttempt => types::Operation::RetryAttempt,
        Operation::RetryExhausted => types::Operation::RetryExhausted,
        Operation::Drain => types::Operation::Drain,
        _ => return None,
    })
}

fn outcome(outcome: Outcome) -> types::EventOutcome {
    match outcome {
        Outcome::Success => types::EventOutcome::Success,
        Outcome::Failure => types::EventOutcome::Failure,
        Outcome::Skipped => types::EventOutcome::Skipped,
        Outcome::Start => types::EventOutcome::Start,
    }
}
