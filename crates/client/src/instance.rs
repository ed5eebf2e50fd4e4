//! One queue object of either engine. It serves one call at a time.

use leaseline_core::event::EventBatch;
use leaseline_core::message::{
    Delivery, Lease, Outgoing, PublishReply, RenewOutcome, SettleOutcome, SettleRequest, Stats,
};
use leaseline_core::{Error, Queue};

use crate::connection::Connection;
use crate::native::{OsEntropy, TokioClock};

/// A queue object.
pub(crate) enum Instance {
    Native(Box<Queue<Connection, TokioClock, OsEntropy>>),
}

/// Calls the engine's method of the same name: the native one answers, the component's may break.
macro_rules! dispatch {
    ($self:ident . $method:ident ( $($argument:expr),* )) => {
        match $self {
            Instance::Native(queue) => Ok(queue.$method($($argument),*).await),
        }
    };
}

/// The outer error is a broken instance: its call may or may not have taken effect.
pub(crate) type Called<T> = Result<T, Error>;

impl Instance {
    pub(crate) async fn publish(&mut self, messages: &[Outgoing]) -> Called<Vec<PublishReply>> {
        dispatch!(self.publish(messages))
    }

    pub(crate) async fn claim(&mut self, max: u32, wait_ms: u64) -> Called<Result<Vec<Delivery>, Error>> {
        dispatch!(self.claim(max, wait_ms))
    }

    pub(crate) async fn settle(
        &mut self,
        requests: &[SettleRequest],
    ) -> Called<Vec<Result<SettleOutcome, Error>>> {
        dispatch!(self.settle(requests))
    }

    pub(crate) async fn renew(&mut self, leases: &[Lease]) -> Called<Vec<Result<RenewOutcome, Error>>> {
        dispatch!(self.renew(leases))
    }

    pub(crate) async fn stats(&mut self) -> Called<Result<Stats, Error>> {
        dispatch!(self.stats())
    }

    pub(crate) async fn redrive(&mut self, max: u64) -> Called<Result<u64, Error>> {
        dispatch!(self.redrive(max))
    }

    pub(crate) async fn drain(&mut self, timeout_ms: u64) -> Called<Result<bool, Error>> {
        dispatch!(self.drain(timeout_ms))
    }

    pub(crate) async fn take_pending_claims(&mut self) -> Called<Vec<String>> {
        match self {
            Self::Native(queue) => Ok(queue.take_pending_claims()),
        }
    }

    pub(crate) async fn adopt_claims(&mut self, claim_ids: Vec<String>) -> Called<()> {
        match self {
            Self::Native(queue) => Ok(queue.adopt_claims(claim_ids)),
        }
    }

    pub(crate) async fn take_events(&mut self) -> Called<EventBatch> {
        match self {
            Self::Native(queue) => Ok(queue.take_events()),
        }
    }

    /// Whether it can serve another call.
    pub(crate) fn is_healthy(&self) -> bool {
        match self {
            Self::Native(_) => true,
        }
    }
}
