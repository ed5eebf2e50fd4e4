//! The world `leaseline:queue/component` in Rust.
#![allow(unsafe_code, reason = "generated code passes pointers to its host")]
#![allow(
    unreachable_pub,
    reason = "generated code does not know how it is used"
)]

wit_bindgen::generate!({
    path: "../../wit",
    world: "leaseline:queue/component",
    generate_all,
    // Commands go to the host as slices; they would be copied once more otherwise.
    ownership: Borrowing { duplicate_if_necessary: true },
});

/// The records of the queue. The generator makes those that are arguments twice, and calls the
/// owned form, which is the one an export gets, a result.
pub(crate) mod types {
    pub(crate) use super::exports::leaseline::queue::queue::{
        ConfigResult as Config, Delivery, Error, ErrorKind, Event, EventBatch, EventOutcome,
        LeaseResult as Lease, Log, Operation, OutgoingResult as Outgoing, OverloadPolicy,
        PayloadResult as Payload, Peeked, PublishOutcome, PublishReply, QueueList, ReleaseOutcome,
        ReleaseRequestResult as ReleaseRequest, RenewOutcome, Retry, SettleOutcome,
        SettleRequestResult as SettleRequest, Settlement, Stats,
    };
}
