//! One queue object of either engine. It serves one call at a time.

use leaseline_core::event::EventBatch;
use leaseline_core::message::{
    Delivery, Lease, List, Outgoing, Peeked, PublishReply, ReleaseOutcome, ReleaseRequest,
    RenewOutcome, SettleOutcome, SettleRequest, Stats,
};
use leaseline_core::{Error, Queue};
use leaseline_wasmtime::{InstanceError, QueueInstance, SystemEntropy, TokioClock};

use crate::connection::Connection;

/// A queue object.
pub(crate) enum Instance {
    Native(Box<Queue<Connection, TokioClock, SystemEntropy>>),
    Component(Box<QueueInstance>),
}

impl Instance {
    pub(crate) async fn publish(
        &mut self,
        messages: &[Outgoing],
    ) -> Result<Vec<PublishReply>, Error> {
        match self {
            Self::Native(queue) => Ok(queue.publish(messages).await),
            Self::Component(queue) => queue.publish(messages).await.map_err(queue_error),
        }
    }

    pub(crate) async fn claim(&mut self, max: u32, wait_ms: u64) -> Result<Vec<Delivery>, Error> {
        match self {
            Self::Native(queue) => queue.claim(max, wait_ms).await,
            Self::Component(queue) => queue.claim(max, wait_ms).await.map_err(queue_error),
        }
    }

    pub(crate) async fn settle(
        &mut self,
        requests: &[SettleRequest],
    ) -> Result<Vec<Result<SettleOutcome, Error>>, Error> {
        match self {
            Self::Native(queue) => Ok(queue.settle(requests).await),
            Self::Component(queue) => queue.settle(requests).await.map_err(queue_error),
        }
    }

    pub(crate) async fn renew(
        &mut self,
        leases: &[Lease],
    ) -> Result<Vec<Result<RenewOutcome, Error>>, Error> {
        match self {
            Self::Native(queue) => Ok(queue.renew(leases).await),
            Self::Component(queue) => queue.renew(leases).await.map_err(queue_error),
        }
    }

    pub(crate) async fn release(
        &mut self,
        requests: &[ReleaseRequest],
    ) -> Result<Vec<Result<ReleaseOutcome, Error>>, Error> {
        match self {
            Self::Native(queue) => Ok(queue.release(requests).await),
            Self::Component(queue) => queue.release(requests).await.map_err(queue_error),
        }
    }

    pub(crate) async fn stats(&mut self) -> Result<Stats, Error> {
        match self {
            Self::Native(queue) => queue.stats().await,
            Self::Component(queue) => queue.stats().await.map_err(queue_error),
        }
    }

    pub(crate) async fn peek(&mut self, list: List, max: u32) -> Result<Vec<Peeked>, Error> {
        match self {
            Self::Native(queue) => queue.peek(list, max).await,
            Self::Component(queue) => queue.peek(list, max).await.map_err(queue_error),
        }
    }

    pub(crate) async fn purge(&mut self, list: List) -> Result<u64, Error> {
        match self {
            Self::Native(queue) => queue.purge(list).await,
            Self::Component(queue) => queue.purge(list).await.map_err(queue_error),
        }
    }

    pub(crate) async fn redrive(&mut self, max: u64) -> Result<u64, Error> {
        match self {
            Self::Native(queue) => queue.redrive(max).await,
            Self::Component(queue) => queue.redrive(max).await.map_err(queue_error),
        }
    }

    pub(crate) async fn drain(&mut self, timeout_ms: u64) -> Result<bool, Error> {
        match self {
            Self::Native(queue) => queue.drain(timeout_ms).await,
            Self::Component(queue) => queue.drain(timeout_ms).await.map_err(queue_error),
        }
    }

    pub(crate) async fn take_pending_claims(&mut self) -> Result<Vec<String>, Error> {
        match self {
            Self::Native(queue) => Ok(queue.take_pending_claims()),
            Self::Component(queue) => queue.take_pending_claims().await.map_err(queue_error),
        }
    }

    pub(crate) async fn adopt_claims(&mut self, claim_ids: Vec<String>) -> Result<(), Error> {
        match self {
            Self::Native(queue) => {
                queue.adopt_claims(claim_ids);
                Ok(())
            }
            Self::Component(queue) => queue.adopt_claims(claim_ids).await.map_err(queue_error),
        }
    }

    pub(crate) async fn take_events(&mut self) -> Result<EventBatch, Error> {
        match self {
            Self::Native(queue) => Ok(queue.take_events()),
            Self::Component(queue) => queue.take_events().await.map_err(queue_error),
        }
    }

    /// Whether it can serve another call.
    pub(crate) fn is_alive(&self) -> bool {
        match self {
            Self::Native(_) => true,
            Self::Component(queue) => queue.is_alive(),
        }
    }
}

fn queue_error(error: InstanceError) -> Error {
    error.into_queue_error()
}
