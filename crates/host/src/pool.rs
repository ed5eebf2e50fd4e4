//! Warm instances.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

use leaseline_core::Config;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::ctx::Ctx;
use crate::instance::QueueInstance;
use crate::instance_error::InstanceError;
use crate::runtime::Runtime;

/// Instances of one queue, kept warm, each serving one call at a time. Copies share them.
///
/// At most `capacity` instances are in use at once; who wants one more waits. An instance goes back
/// when its guard is dropped and is used again, the last one first, so that few stay warm when
/// few are needed. One that trapped, or whose call was dropped, is discarded instead.
///
/// Claim ids whose outcome is unknown stay with their instance, and its next claim answers them. An
/// instance may not be used again: after a claim that failed, take them out
/// ([`QueueInstance::take_pending_claims`]) and give them to the next one that claims
/// ([`QueueInstance::adopt_claims`]).
#[derive(Clone)]
pub struct InstancePool {
    shared: Arc<Shared>,
}

struct Shared {
    runtime: Runtime,
    ctx: Ctx,
    redis: String,
    config: Config,
    permits: Arc<Semaphore>,
    state: Mutex<PoolState>,
}

#[derive(Default)]
struct PoolState {
    idle: Vec<QueueInstance>,
    counters: PoolCounters,
}

/// What a pool has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolCounters {
    /// Instances that were made.
    pub created: u64,
    /// Times that a warm instance was taken.
    pub reused: u64,
    /// Instances that were given up because they were dead.
    pub discarded: u64,
    /// Instances that wait for use now.
    pub idle: usize,
}

impl InstancePool {
    /// An empty pool. Each instance gets a copy of `ctx` and opens the queue over the connection
    /// of that label. A capacity of 0 counts as 1.
    pub fn new(
        runtime: Runtime,
        ctx: Ctx,
        redis: impl Into<String>,
        config: Config,
        capacity: usize,
    ) -> Self {
        let permits = capacity.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            shared: Arc::new(Shared {
                runtime,
                ctx,
                redis: redis.into(),
                config,
                permits: Arc::new(Semaphore::new(permits)),
                state: Mutex::default(),
            }),
        }
    }

    /// Takes a warm instance or makes one, after waiting for a free place.
    ///
    /// # Errors
    ///
    /// [`InstanceError::PoolClosed`], and those of [`QueueInstance::open`].
    pub async fn acquire(&self) -> Result<PooledInstance, InstanceError> {
        let permits = Arc::clone(&self.shared.permits);
        let permit = permits
            .acquire_owned()
            .await
            .map_err(|_| InstanceError::PoolClosed)?;
        let warm = self.shared.with_state(|state| {
            let warm = state.idle.pop();
            state.counters.reused += u64::from(warm.is_some());
            warm
        });
        let instance = match warm {
            Some(instance) => instance,
            None => self.shared.open().await?,
        };
        Ok(PooledInstance {
            instance: Some(instance),
            shared: Arc::clone(&self.shared),
            _permit: permit,
        })
    }

    /// Refuses further use and hands over the instances that are idle, for their owner to drain.
    /// Those in use end with their guards.
    pub fn close(&self) -> Vec<QueueInstance> {
        self.shared.permits.close();
        self.shared
            .with_state(|state| std::mem::take(&mut state.idle))
    }

    /// What the pool has done so far.
    pub fn counters(&self) -> PoolCounters {
        self.shared.with_state(|state| PoolCounters {
            idle: state.idle.len(),
            ..state.counters
        })
    }
}

impl Shared {
    async fn open(&self) -> Result<QueueInstance, InstanceError> {
        let instance =
            QueueInstance::open(&self.runtime, self.ctx.clone(), &self.redis, &self.config).await?;
        self.with_state(|state| state.counters.created += 1);
        Ok(instance)
    }

    fn with_state<T>(&self, work: impl FnOnce(&mut PoolState) -> T) -> T {
        // Nothing that runs under the lock panics halfway through a change.
        work(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn take_back(&self, instance: QueueInstance) {
        let dead = self.with_state(|state| {
            if !instance.is_alive() {
                state.counters.discarded += 1;
            } else if !self.permits.is_closed() {
                state.idle.push(instance);
                return None;
            }
            Some(instance)
        });
        // Outside the lock: giving up an instance unmaps its memory.
        drop(dead);
    }
}

/// An instance on loan from a pool.
pub struct PooledInstance {
    /// Present until the guard is dropped.
    instance: Option<QueueInstance>,
    shared: Arc<Shared>,
    _permit: OwnedSemaphorePermit,
}

impl Deref for PooledInstance {
    type Target = QueueInstance;

    fn deref(&self) -> &QueueInstance {
        self.instance
            .as_ref()
            .expect("present until the guard is dropped")
    }
}

impl DerefMut for PooledInstance {
    fn deref_mut(&mut self) -> &mut QueueInstance {
        self.instance
            .as_mut()
            .expect("present until the guard is dropped")
    }
}

impl Drop for PooledInstance {
    fn drop(&mut self) {
        if let Some(instance) = self.instance.take() {
            self.shared.take_back(instance);
        }
    }
}
