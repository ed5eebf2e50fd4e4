//! A client's queue object, on either engine.

use leaseline_core::event::EventBatch;
use leaseline_core::message::{
    Delivery, Lease, List, Outgoing, Peeked, PublishReply, ReleaseOutcome, ReleaseRequest,
    RenewOutcome, SettleOutcome, SettleRequest, Stats,
};
use leaseline_core::{Config, Error, Queue};
#[cfg(feature = "component")]
use leaseline_wasmtime::{Ctx, InstanceError, Limits, QueueInstance};

use super::link::Link;
use crate::Engine;

/// The label under which a component finds its Redis.
#[cfg(feature = "component")]
const LABEL: &str = "redis";

/// A queue object. It serves one call at a time.
pub(super) enum Object {
    Native(Box<Queue<Link, Link, Link>>),
    #[cfg(feature = "component")]
    Component(Box<QueueInstance>),
}

/// Calls a queue object on the engine that it is on. An instance that broke is a fault of the
/// component, whatever the network did: it answers for nothing else.
macro_rules! on_engine {
    ($object:expr, $queue:ident => $native:expr, $component:expr) => {
        match $object {
            Self::Native($queue) => $native,
            #[cfg(feature = "component")]
            Self::Component($queue) => $component.map_err(InstanceError::into_queue_error),
        }
    };
}

impl Object {
    pub(super) async fn open(engine: &Engine, config: Config, link: &Link) -> Result<Self, Error> {
        match engine {
            Engine::Native => {
                let queue = Queue::new(config, link.clone(), link.clone(), link.clone())?;
                Ok(Self::Native(Box::new(queue)))
            }
            #[cfg(feature = "component")]
            Engine::Component(runtime) => {
                let mut limits = Limits::default();
                // Real time must decide nothing.
                limits.compute = None;
                let ctx = Ctx::builder()
                    .redis(LABEL, link.clone())
                    .clock(link.clone())
                    .entropy(link.clone())
                    .limits(limits)
                    .build();
                let instance = QueueInstance::open(runtime, ctx, LABEL, &config).await;
                let instance = instance.map_err(InstanceError::into_queue_error)?;
                Ok(Self::Component(Box::new(instance)))
            }
        }
    }

    /// Whether the next call can succeed: an instance that trapped is of no use any more.
    pub(super) fn is_alive(&self) -> bool {
        match self {
            Self::Native(_) => true,
            #[cfg(feature = "component")]
            Self::Component(queue) => queue.is_alive(),
        }
    }

    pub(super) async fn publish(
        &mut self,
        messages: &[Outgoing],
    ) -> Result<Vec<PublishReply>, Error> {
        on_engine!(self, queue => Ok(queue.publish(messages).await), queue.publish(messages).await)
    }

    pub(super) async fn claim(&mut self, max: u32, wait_ms: u64) -> Result<Vec<Delivery>, Error> {
        on_engine!(self, queue => queue.claim(max, wait_ms).await, queue.claim(max, wait_ms).await)
    }

    pub(super) async fn settle(
        &mut self,
        requests: &[SettleRequest],
    ) -> Result<Vec<Result<SettleOutcome, Error>>, Error> {
        on_engine!(self, queue => Ok(queue.settle(requests).await), queue.settle(requests).await)
    }

    pub(super) async fn renew(
        &mut self,
        leases: &[Lease],
    ) -> Result<Vec<Result<RenewOutcome, Error>>, Error> {
        on_engine!(self, queue => Ok(queue.renew(leases).await), queue.renew(leases).await)
    }

    pub(super) async fn release(
        &mut self,
        requests: &[ReleaseRequest],
    ) -> Result<Vec<Result<ReleaseOutcome, Error>>, Error> {
        on_engine!(self, queue => Ok(queue.release(requests).await), queue.release(requests).await)
    }

    pub(super) async fn stats(&mut self) -> Result<Stats, Error> {
        on_engine!(self, queue => queue.stats().await, queue.stats().await)
    }

    pub(super) async fn peek(&mut self, list: List, max: u32) -> Result<Vec<Peeked>, Error> {
        on_engine!(self, queue => queue.peek(list, max).await, queue.peek(list, max).await)
    }

    pub(super) async fn purge(&mut self, list: List) -> Result<u64, Error> {
        on_engine!(self, queue => queue.purge(list).await, queue.purge(list).await)
    }

    pub(super) async fn redrive(&mut self, max: u64) -> Result<u64, Error> {
        on_engine!(self, queue => queue.redrive(max).await, queue.redrive(max).await)
    }

    pub(super) async fn drain(&mut self, timeout_ms: u64) -> Result<bool, Error> {
        on_engine!(self, queue => queue.drain(timeout_ms).await, queue.drain(timeout_ms).await)
    }

    pub(super) async fn take_pending_claims(&mut self) -> Result<Vec<String>, Error> {
        on_engine!(
            self,
            queue => Ok(queue.take_pending_claims()),
            queue.take_pending_claims().await
        )
    }

    pub(super) async fn adopt_claims(&mut self, claim_ids: Vec<String>) -> Result<(), Error> {
        on_engine!(self, queue => {
            queue.adopt_claims(claim_ids);
            Ok(())
        }, queue.adopt_claims(claim_ids).await)
    }

    pub(super) async fn take_events(&mut self) -> Result<EventBatch, Error> {
        on_engine!(self, queue => Ok(queue.take_events()), queue.take_events().await)
    }
}
