//! Messages and leases into the guest, and what became of them out of it.

use leaseline_core::message::{
    Delivery, Lease, List, Outgoing, Payload, Peeked, PublishOutcome, PublishReply, ReleaseOutcome,
    ReleaseRequest, RenewOutcome, SettleOutcome, SettleRequest, Settlement, Stats,
};

use super::error::error;
use crate::bindings::exports::leaseline::queue::queue as types;

pub(crate) fn outgoing(message: &Outgoing) -> types::Outgoing<'_> {
    types::Outgoing {
        payload: match &message.payload {
            Payload::Bytes(bytes) => types::Payload::Bytes(bytes),
            Payload::Json(text) => types::Payload::Json(text),
        },
        deduplication_key: message.deduplication_key.as_deref(),
        delay_ms: message.delay_ms,
    }
}

pub(crate) fn publish_reply(reply: types::PublishReply) -> PublishReply {
    PublishReply {
        message_id: reply.message_id,
        outcome: match reply.outcome {
            Ok(types::PublishOutcome::Published) => Ok(PublishOutcome::Published),
            Ok(types::PublishOutcome::Duplicate) => Ok(PublishOutcome::Duplicate),
            Err(failure) => Err(error(failure)),
        },
    }
}

pub(crate) fn lease(lease: &Lease) -> types::LeaseParam<'_> {
    types::LeaseParam {
        stored: &lease.stored,
        token: lease.token.as_deref(),
        deadline_ms: lease.deadline_ms,
        not_after_ms: lease.not_after_ms,
    }
}

pub(crate) fn delivery(delivery: types::Delivery) -> Delivery {
    let types::LeaseResult {
        stored,
        token,
        deadline_ms,
        not_after_ms,
    } = delivery.lease;
    Delivery {
        message_id: delivery.message_id,
        payload: delivery.payload.map_err(error),
        lease: Lease {
            stored,
            token,
            deadline_ms,
            not_after_ms,
        },
        delivery_count: delivery.delivery_count,
        replayed: delivery.replayed,
    }
}

pub(crate) fn settle_request(request: &SettleRequest) -> types::SettleRequest<'_> {
    types::SettleRequest {
        lease: lease(&request.lease),
        settlement: match request.settlement {
            Settlement::Ack => types::Settlement::Ack,
            Settlement::Fail => types::Settlement::Fail,
        },
        reason: request.reason.as_deref(),
    }
}

pub(crate) fn settle_outcome(outcome: types::SettleOutcome) -> SettleOutcome {
    match outcome {
        types::SettleOutcome::Done => SettleOutcome::Done,
        types::SettleOutcome::Stale => SettleOutcome::Stale,
    }
}

pub(crate) fn renew_outcome(outcome: types::RenewOutcome) -> RenewOutcome {
    match outcome {
        types::RenewOutcome::Renewed(deadline_ms) => RenewOutcome::Renewed(deadline_ms),
        types::RenewOutcome::Stale => RenewOutcome::Stale,
    }
}

pub(crate) fn release_request(request: &ReleaseRequest) -> types::ReleaseRequest<'_> {
    types::ReleaseRequest {
        lease: lease(&request.lease),
        delay_ms: request.delay_ms,
    }
}

pub(crate) fn release_outcome(outcome: types::ReleaseOutcome) -> ReleaseOutcome {
    match outcome {
        types::ReleaseOutcome::Released(due_ms) => ReleaseOutcome::Released(due_ms),
        types::ReleaseOutcome::Stale => ReleaseOutcome::Stale,
    }
}

pub(crate) fn stats(stats: types::Stats) -> Stats {
    Stats {
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

pub(crate) fn list(list: List) -> types::QueueList {
    match list {
        List::Pending => types::QueueList::Pending,
        List::Processing => types::QueueList::Processing,
        List::Completed => types::QueueList::Completed,
        List::Failed => types::QueueList::Failed,
        List::DeadLetters => types::QueueList::DeadLetters,
    }
}

pub(crate) fn peeked(peeked: types::Peeked) -> Peeked {
    Peeked {
        message_id: peeked.message_id,
        payload: peeked.payload.map_err(error),
        delivery_count: peeked.delivery_count,
        deadline_ms: peeked.deadline_ms,
        remaining_ms: peeked.remaining_ms,
        delayed: peeked.delayed,
    }
}
