//! Embeds the Leaseline component in a wasmtime host.

pub mod bindings;
mod clock;
mod connection;
mod convert;
mod ctx;
mod entropy;
mod imports;
mod instance;
mod instance_error;
mod limits;
mod linker;
mod pool;
mod runtime;
mod state;
mod ticker;

pub use leaseline_core::capability::{
    Clock, Entropy, PipelineReply, Redis, RedisError, Reply, ServerError, Value,
};

pub use clock::TokioClock;
pub use connection::Connection;
pub use ctx::{Ctx, CtxBuilder, CtxView, View};
pub use entropy::SystemEntropy;
pub use instance::QueueInstance;
pub use instance_error::{InstanceError, TrapCause};
pub use limits::Limits;
pub use linker::{add_redis_to_linker, add_to_linker};
pub use pool::{InstancePool, PoolCounters, PooledInstance};
pub use runtime::{ComponentError, Runtime};
