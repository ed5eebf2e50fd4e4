//! A queue inside its own instance of the component.

use std::fmt;

use leaseline_core::Config;
use leaseline_core::event::EventBatch;
use leaseline_core::message::{
    Delivery, Lease, List, Outgoing, Peeked, PublishReply, ReleaseOutcome, ReleaseRequest,
    RenewOutcome, SettleOutcome, SettleRequest, Stats,
};
use wasmtime::Store;
use wasmtime::component::ResourceAny;

use crate::bindings::Component;
use crate::bindings::exports::leaseline::queue::queue::GuestQueue;
use crate::convert::{config, error, event, message};
use crate::ctx::Ctx;
use crate::instance_error::InstanceError;
use crate::runtime::Runtime;
use crate::state::State;

/// A queue inside its own instance of the component: the calls of `leaseline_core::Queue`, with its
/// types.
///
/// It serves one call at a time. After a trap, and after the future of a call was dropped before
/// it ended, the instance is dead: every further call is refused with [`InstanceError::Dead`].
///
/// A claim that was cut off so may have taken messages. Where claims have leases, those come back
/// when they expire. Without leases only the component knew the claim's id, and the messages stay
/// in `processing`: do not drop such a call, or use leases.
pub struct QueueInstance {
    store: Store<State>,
    component: Component,
    queue: ResourceAny,
    condition: Condition,
}

/// Whether the instance may be entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Well,
    /// A call has begun and has not ended. Seen from a later call: its future was dropped.
    Entered,
    Trapped,
}

impl QueueInstance {
    /// Instantiates the component and opens a queue over the connection that `ctx` grants under
    /// the label `redis`. Sends nothing to Redis.
    ///
    /// # Errors
    ///
    /// [`InstanceError::Queue`] when the configuration breaks a rule or the label is unknown, and
    /// what befalls instances.
    pub async fn open(
        runtime: &Runtime,
        ctx: Ctx,
        redis: &str,
        config: &Config,
    ) -> Result<Self, InstanceError> {
        let mut store = State::store(runtime.engine(), ctx);
        let component = match runtime.component().instantiate_async(&mut store).await {
            Ok(component) => component,
            Err(error) => return Err(InstanceError::NotInstantiated(format!("{error:#}"))),
        };
        let config = config::config(redis, config);
        let opened = component
            .leaseline_queue_queue()
            .queue()
            .call_open(&mut store, config)
            .await;
        match opened {
            Ok(Ok(queue)) => Ok(Self {
                store,
                component,
                queue,
                condition: Condition::Well,
            }),
            Ok(Err(refusal)) => Err(error::error(refusal).into()),
            Err(trap) => Err(InstanceError::trapped(
                &trap,
                store.data().was_refused_memory(),
            )),
        }
    }

    /// Whether the instance can serve another call.
    pub fn is_alive(&self) -> bool {
        self.condition == Condition::Well
    }

    /// Publishes the messages in order; one reply for each.
    ///
    /// # Errors
    ///
    /// What befalls instances. Failures of messages are in their replies.
    pub async fn publish(
        &mut self,
        messages: &[Outgoing],
    ) -> Result<Vec<PublishReply>, InstanceError> {
        let messages: Vec<_> = messages.iter().map(message::outgoing).collect();
        let (queue, store, this) = self.enter()?;
        let result = queue.call_publish(store, this, &messages).await;
        Ok(self
            .leave(result)?
            .into_iter()
            .map(message::publish_reply)
            .collect())
    }

    /// Claims at most `max` messages, and waits at most `wait_ms` for the first.
    ///
    /// # Errors
    ///
    /// The queue's error, or what befalls instances.
    pub async fn claim(&mut self, max: u32, wait_ms: u64) -> Result<Vec<Delivery>, InstanceError> {
        let (queue, store, this) = self.enter()?;
        let result = queue.call_claim(store, this, max, wait_ms).await;
        let deliveries = self.leave(result)?.map_err(error::error)?;
        Ok(deliveries.into_iter().map(message::delivery).collect())
    }

    /// Settles leases, each on its own.
    ///
    /// # Errors
    ///
    /// What befalls instances. Failures of settlements are in their outcomes.
    pub async fn settle(
        &mut self,
        requests: &[SettleRequest],
    ) -> Result<Vec<Result<SettleOutcome, leaseline_core::Error>>, InstanceError> {
        let requests: Vec<_> = requests.iter().map(message::settle_request).collect();
        let (queue, store, this) = self.enter()?;
        let result = queue.call_settle(store, this, &requests).await;
        let outcomes = self.leave(result)?.into_iter();
        Ok(outcomes
            .map(|o| o.map(message::settle_outcome).map_err(error::error))
            .collect())
    }

    /// Moves the deadlines of leases to now plus the visibility timeout.
    ///
    /// # Errors
    ///
    /// What befalls instances. Failures of renewals are in their outcomes.
    pub async fn renew(
        &mut self,
        leases: &[Lease],
    ) -> Result<Vec<Result<RenewOutcome, leaseline_core::Error>>, InstanceError> {
        let leases: Vec<_> = leases.iter().map(message::lease).collect();
        let (queue, store, this) = self.enter()?;
        let result = queue.call_renew(store, this, &leases).await;
        let outcomes = self.leave(result)?.into_iter();
        Ok(outcomes
            .map(|o| o.map(message::renew_outcome).map_err(error::error))
            .collect())
    }

    /// Gives leases up, each on its own: nobody can claim the message before its delay is over.
    ///
    /// # Errors
    ///
    /// What befalls instances. Failures of releases are in their outcomes.
    pub async fn release(
        &mut self,
        requests: &[ReleaseRequest],
    ) -> Result<Vec<Result<ReleaseOutcome, leaseline_core::Error>>, InstanceError> {
        let requests: Vec<_> = requests.iter().map(message::release_request).collect();
        let (queue, store, this) = self.enter()?;
        let result = queue.call_release(store, this, &requests).await;
        let outcomes = self.leave(result)?.into_iter();
        Ok(outcomes
            .map(|o| o.map(message::release_outcome).map_err(error::error))
            .collect())
    }

    /// How many messages are where.
    ///
    /// # Errors
    ///
    /// The queue's error, or what befalls instances.
    pub async fn stats(&mut self) -> Result<Stats, InstanceError> {
        let (queue, store, this) = self.enter()?;
        let result = queue.call_stats(store, this).await;
        Ok(message::stats(self.leave(result)?.map_err(error::error)?))
    }

    /// The newest messages of a list, newest first.
    ///
    /// # Errors
    ///
    /// The queue's error, or what befalls instances.
    pub async fn peek(&mut self, list: List, max: u32) -> Result<Vec<Peeked>, InstanceError> {
        let (queue, store, this) = self.enter()?;
        let result = queue.call_peek(store, this, message::list(list), max).await;
        let peeked = self.leave(result)?.map_err(error::error)?;
        Ok(peeked.into_iter().map(message::peeked).collect())
    }

    /// Removes what is in a list for good.
    ///
    /// # Errors
    ///
    /// The queue's error, or what befalls instances.
    pub async fn purge(&mut self, list: List) -> Result<u64, InstanceError> {
        let (queue, store, this) = self.enter()?;
        let result = queue.call_purge(store, this, message::list(list)).await;
        Ok(self.leave(result)?.map_err(error::error)?)
    }

    /// Moves at most `max` dead letters back to pending, oldest first.
    ///
    /// # Errors
    ///
    /// The queue's error, or what befalls instances.
    pub async fn redrive(&mut self, max: u64) -> Result<u64, InstanceError> {
        let (queue, store, this) = self.enter()?;
        let result = queue.call_redrive(store, this, max).await;
        Ok(self.leave(result)?.map_err(error::error)?)
    }

    /// Refuses further publishes and claims on this instance and resolves its open claims. True:
    /// none is left.
    ///
    /// # Errors
    ///
    /// The queue's error, or what befalls instances.
    pub async fn drain(&mut self, timeout_ms: u64) -> Result<bool, InstanceError> {
        let (queue, store, this) = self.enter()?;
        let result = queue.call_drain(store, this, timeout_ms).await;
        Ok(self.leave(result)?.map_err(error::error)?)
    }

    /// Hands over the ids of claims whose outcome is not known, for another instance to resolve.
    ///
    /// # Errors
    ///
    /// What befalls instances.
    pub async fn take_pending_claims(&mut self) -> Result<Vec<String>, InstanceError> {
        let (queue, store, this) = self.enter()?;
        let result = queue.call_take_pending_claims(store, this).await;
        self.leave(result)
    }

    /// Takes over claim ids from another instance. The next claim answers them first.
    ///
    /// # Errors
    ///
    /// What befalls instances.
    pub async fn adopt_claims(&mut self, claim_ids: Vec<String>) -> Result<(), InstanceError> {
        let claim_ids: Vec<_> = claim_ids.iter().map(String::as_str).collect();
        let (queue, store, this) = self.enter()?;
        let result = queue.call_adopt_claims(store, this, &claim_ids).await;
        self.leave(result)
    }

    /// Takes the buffered events.
    ///
    /// # Errors
    ///
    /// What befalls instances.
    pub async fn take_events(&mut self) -> Result<EventBatch, InstanceError> {
        let (queue, store, this) = self.enter()?;
        let result = queue.call_take_events(store, this).await;
        self.leave(result).map(event::event_batch)
    }

    /// Notes that a call begins, and gives what it needs.
    fn enter(&mut self) -> Result<(GuestQueue<'_>, &mut Store<State>, ResourceAny), InstanceError> {
        if self.condition != Condition::Well {
            return Err(InstanceError::Dead);
        }
        self.condition = Condition::Entered;
        self.store.data_mut().begin_call();
        let queue = self.component.leaseline_queue_queue().queue();
        Ok((queue, &mut self.store, self.queue))
    }

    /// Notes that a call has ended, and how.
    fn leave<T>(&mut self, result: wasmtime::Result<T>) -> Result<T, InstanceError> {
        match result {
            Ok(value) => {
                self.condition = Condition::Well;
                Ok(value)
            }
            Err(trap) => {
                self.condition = Condition::Trapped;
                Err(InstanceError::trapped(
                    &trap,
                    self.store.data().was_refused_memory(),
                ))
            }
        }
    }
}

impl fmt::Debug for QueueInstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueInstance")
            .field("condition", &self.condition)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instances and the futures of their calls move between threads.
    #[test]
    fn calls_can_be_spawned() {
        fn is_send<T: Send>(_: &T) {}
        fn of_calls(instance: &mut QueueInstance) {
            is_send(&instance.publish(&[]));
            is_send(&instance.claim(1, 0));
            is_send(&instance.take_events());
            is_send(instance);
        }
        let _ = of_calls;
    }
}
