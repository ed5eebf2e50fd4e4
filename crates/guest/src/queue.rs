//! The exported resource `queue`.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use leaseline_core::Queue as CoreQueue;

use crate::Component;
use crate::bindings::exports::leaseline::queue::queue::{Guest, GuestQueue, Queue};
use crate::bindings::types;
use crate::capability::{HostClock, HostEntropy, HostRedis};
use crate::convert;
use crate::executor::block_on;

impl Guest for Component {
    type Queue = QueueResource;
}

/// A queue over the host's capabilities.
///
/// The world's functions are not reentrant, so the cell is never borrowed twice; if a host broke
/// that rule, the borrow would trap before anything is damaged.
pub(crate) struct QueueResource(RefCell<CoreQueue<HostRedis, HostClock, HostEntropy>>);

impl GuestQueue for QueueResource {
    fn open(config: types::Config) -> Result<Queue, types::Error> {
        let redis = HostRedis::open(&config.redis).map_err(|e| convert::error(e.into()))?;
        let queue = CoreQueue::new(convert::config(config), redis, HostClock, HostEntropy)
            .map_err(convert::error)?;
        Ok(Queue::new(Self(RefCell::new(queue))))
    }

    fn publish(&self, messages: Vec<types::Outgoing>) -> Vec<types::PublishReply> {
        let messages: Vec<_> = messages.into_iter().map(convert::outgoing).collect();
        let replies = block_on(self.0.borrow_mut().publish(&messages));
        replies.into_iter().map(convert::publish_reply).collect()
    }

    fn claim(&self, max: u32, wait_ms: u64) -> Result<Vec<types::Delivery>, types::Error> {
        let deliveries =
            block_on(self.0.borrow_mut().claim(max, wait_ms)).map_err(convert::error)?;
        Ok(deliveries.into_iter().map(convert::delivery).collect())
    }

    fn settle(
        &self,
        requests: Vec<types::SettleRequest>,
    ) -> Vec<Result<types::SettleOutcome, types::Error>> {
        let requests: Vec<_> = requests.into_iter().map(convert::settle_request).collect();
        let outcomes = block_on(self.0.borrow_mut().settle(&requests));
        outcomes
            .into_iter()
            .map(|outcome| outcome.map(convert::settle_outcome).map_err(convert::error))
            .collect()
    }

    fn renew(&self, leases: Vec<types::Lease>) -> Vec<Result<types::RenewOutcome, types::Error>> {
        let leases: Vec<_> = leases.into_iter().map(convert::lease).collect();
        let outcomes = block_on(self.0.borrow_mut().renew(&leases));
        outcomes
            .into_iter()
            .map(|outcome| outcome.map(convert::renew_outcome).map_err(convert::error))
            .collect()
    }

    fn release(
        &self,
        requests: Vec<types::ReleaseRequest>,
    ) -> Vec<Result<types::ReleaseOutcome, types::Error>> {
        let requests: Vec<_> = requests.into_iter().map(convert::release_request).collect();
        let outcomes = block_on(self.0.borrow_mut().release(&requests));
        outcomes
            .into_iter()
            .map(|outcome| {
                outcome
                    .map(convert::release_outcome)
                    .map_err(convert::error)
            })
            .collect()
    }

    fn stats(&self) -> Result<types::Stats, types::Error> {
        block_on(self.0.borrow_mut().stats())
            .map(convert::stats)
            .map_err(convert::error)
    }

    fn peek(&self, from: types::QueueList, max: u32) -> Result<Vec<types::Peeked>, types::Error> {
        let list = convert::list(from);
        let peeked = block_on(self.0.borrow_mut().peek(list, max)).map_err(convert::error)?;
        Ok(peeked.into_iter().map(convert::peeked).collect())
    }

    fn purge(&self, target: types::QueueList) -> Result<u64, types::Error> {
        let list = convert::list(target);
        block_on(self.0.borrow_mut().purge(list)).map_err(convert::error)
    }

    fn redrive(&self, max: u64) -> Result<u64, types::Error> {
        block_on(self.0.borrow_mut().redrive(max)).map_err(convert::error)
    }

    fn drain(&self, timeout_ms: u64) -> Result<bool, types::Error> {
        block_on(self.0.borrow_mut().drain(timeout_ms)).map_err(convert::error)
    }

    fn take_pending_claims(&self) -> Vec<String> {
        self.0.borrow_mut().take_pending_claims()
    }

    fn adopt_claims(&self, claim_ids: Vec<String>) {
        self.0.borrow_mut().adopt_claims(claim_ids);
    }

    fn take_events(&self) -> types::EventBatch {
        convert::event_batch(self.0.borrow_mut().take_events())
    }
}
