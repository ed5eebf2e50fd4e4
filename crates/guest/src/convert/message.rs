//! Messages, leases and their outcomes, in both directions.

use leaseline_core::message::{
    Delivery, Lease, List, Outgoing, Payload, Peeked, PublishOutcome, PublishReply, ReleaseOutcome,
    ReleaseRequest, RenewOutcome, SettleOutcome, SettleRequest, Settlement, Stats,
};

use super::error;
use crate::bindings::types;

pub(crate) fn outgoing(message: types::Outgoing) -> Outgoing {
    Outgoing {
        payload: match message.payload {
            types::Payload::Bytes(bytes) => Payload::Bytes(bytes),
            types::Payload::Json(text) => Payload::Json(text),
        },
        deduplication_key: message.deduplication_key,
        delay_ms: message.delay_ms,
    }
}

pub(crate) fn publish_reply(reply: PublishReply) -> types::PublishReply {
    types::PublishReply {
        message_id: reply.message_id,
        outcome: match reply.outcome {
            Ok(PublishOutcome::Published) => Ok(types::PublishOutcome::Published),
            Ok(PublishOutcome::Duplicate) => Ok(types::PublishOutcome::Duplicate),
            Err(failure) => Err(error(failure)),
        },
    }
}

pub(crate) fn lease(lease: types::Lease) -> Lease {
    Lease {
        stored: lease.stored,
        token: lease.token,
        deadline_ms: lease.deadline_ms,
        not_after_ms: lease.not_after_ms,
    }
}

pub(crate) fn delivery(delivery: Delivery) -> types::Delivery {
    let Lease {
        stored,
        token,
        deadline_ms,
        not_after_ms,
    } = delivery.lease;
    types::Delivery {
        message_id: delivery.message_id,
        payload: delivery.payload.map_err(error),
        lease: types::Lease {
            stored,
            token,
            deadline_ms,
            not_after_ms,
        },
        delivery_count: delivery.delivery_count,
        replayed: delivery.replayed,
    }
}

pub(crate) fn settle_request(request: types::SettleRequest) -> SettleRequest {
    SettleRequest {
        lease: lease(request.lease),
        settlement: match request.settlement {
            types::Settlement::Ack => Settlement::Ack,
            types::Settlement::Fail => Settlement::Fail,
        },
        reason: request.reason,
    }
}

pub(crate) fn settle_outcome(outcome: SettleOutcome) -> types::SettleOutcome {
    match outcome {
        SettleOutcome::Done => types::SettleOutcome::Done,
        SettleOutcome::Stale => types::SettleOutcome::Stale,
    }
}

pub(crate) fn renew_outcome(outcome: RenewOutcome) -> types::RenewOutcome {
    match outcome {
        RenewOutcome::Renewed(deadline_ms) => types::RenewOutcome::Renewed(deadline_ms),
        RenewOutcome::Stale => types::RenewOutcome::Stale,
    }
}

pub(crate) fn release_request(request: types::ReleaseRequest) -> ReleaseRequest {
    ReleaseRequest {
        lease: lease(request.lease),
        delay_ms: request.delay_ms,
    }
}

pub(crate) fn release_outcome(outcome: ReleaseOutcome) -> types::ReleaseOutcome {
    match outcome {
        ReleaseOutcome::Released(due_ms) => types::ReleaseOutcome::Released(due_ms),
        ReleaseOutcome::Stale => types::ReleaseOutcome::Stale,
    }
}

pub(crate) fn stats(stats: Stats) -> types::Stats {
    types::Stats {
        pending: stats.pending,
        processing: stats.processing,
        delayed: stats.delayed,
        overdue: stats.overdue,
        oldest_overdue_ms: stats.oldest_overdue_ms,
        next_lease_end_ms: stats.next_lease_end_ms,
        last_lease_end_ms: stats.last_lease_end_ms,
        completed: stats.completed,
        failed: stats.failed,
        dead_letters: stats.dead_letters,
    }
}

pub(crate) fn list(list: types::QueueList) -> List {
    match list {
        types::QueueList::Pending => List::Pending,
        types::QueueList::Processing => List::Processing,
        types::QueueList::Completed => List::Completed,
        types::QueueList::Failed => List::Failed,
        types::QueueList::DeadLetters => List::DeadLetters,
    }
}

pub(crate) fn peeked(peeked: Peeked) -> types::Peeked {
    types::Peeked {
        message_id: peeked.message_id,
        payload: peeked.payload.map_err(error),
        delivery_count: peeked.delivery_count,
        deadline_ms: peeked.deadline_ms,
        remaining_ms: peeked.remaining_ms,
        delayed: peeked.delayed,
    }
}
