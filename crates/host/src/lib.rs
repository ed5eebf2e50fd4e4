//! Embeds the Leaseline component in a wasmtime host.
//!
//! The component is the whole logic of a Redis message queue. It owns no socket: an embedder
//! links it with a [`Redis`] of its own, and this crate brings the rest. There are two ways in.
//!
//! # A host with its own engine and store
//!
//! The shape is that of wasmtime's WASI crates: a [`Ctx`] says what a guest is granted, [`View`]
//! says where it lies in the store's data, [`add_to_linker`] adds the imports, and [`bindings`]
//! call the exports.
//!
//! ```
//! use std::sync::Mutex;
//!
//! use leaseline_component::COMPONENT;
//! use leaseline_wasmtime::bindings::exports::leaseline::queue::queue::{
//!     Config, LeaseParam, Log, Outgoing, OverloadPolicy, Payload, SettleOutcome, SettleRequest,
//!     Settlement,
//! };
//! use leaseline_wasmtime::{
//!     Ctx, CtxView, PipelineReply, Redis, RedisError, Reply, ServerError, Value, View,
//!     add_to_linker, bindings,
//! };
//! use wasmtime::component::{Component, Linker, ResourceTable};
//! use wasmtime::{Engine, Store};
//!
//! /// The Redis that this host grants. Here it is a model in memory; over a network, `execute`
//! /// sends, waits at most `timeout_ms`, and says what became of the command when it fails.
//! struct MyRedis(Mutex<leaseline_redis_model::Server>);
//!
//! impl Redis for MyRedis {
//!     async fn execute(&self, argv: &[&[u8]], _timeout_ms: u32) -> Reply {
//!         let mut values = Vec::new();
//!         flatten(self.0.lock().unwrap().execute(argv), &mut values)
//!             .map_err(RedisError::Server)?;
//!         Ok(values)
//!     }
//!
//!     async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
//!         let mut replies = Vec::new();
//!         for argv in commands {
//!             replies.push(match self.execute(argv, timeout_ms).await {
//!                 Ok(values) => Ok(values),
//!                 Err(RedisError::Server(refusal)) => Err(refusal),
//!                 Err(failure) => return Err(failure),
//!             });
//!         }
//!         Ok(replies)
//!     }
//! }
//!
//! /// Replies reach the component flat: nested arrays are spread out in order.
//! fn flatten(
//!     reply: leaseline_redis_model::Reply,
//!     values: &mut Vec<Value>,
//! ) -> Result<(), ServerError> {
//!     use leaseline_redis_model::Reply;
//!     match reply {
//!         Reply::Nil | Reply::NilArray => values.push(Value::Nil),
//!         Reply::Integer(integer) => values.push(Value::Int(integer)),
//!         Reply::Status(text) => {
//!             values.push(Value::Status(String::from_utf8_lossy(&text).into_owned()));
//!         }
//!         Reply::Bulk(bytes) => values.push(Value::Bytes(bytes)),
//!         Reply::Array(replies) => {
//!             for reply in replies {
//!                 flatten(reply, values)?;
//!             }
//!         }
//!         Reply::Error(line) => {
//!             return Err(ServerError::from_line(&String::from_utf8_lossy(&line)));
//!         }
//!         other => unreachable!("only for a client that asked for RESP3: {other:?}"),
//!     }
//!     Ok(())
//! }
//!
//! /// Whatever else the host keeps in its store, and our part of it.
//! struct MyState {
//!     leaseline: Ctx,
//!     table: ResourceTable,
//! }
//!
//! impl View for MyState {
//!     fn leaseline(&mut self) -> CtxView<'_> {
//!         CtxView { ctx: &mut self.leaseline, table: &mut self.table }
//!     }
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> wasmtime::Result<()> {
//!     let mut engine = wasmtime::Config::new();
//!     // The component is a plain one; calls into it cost a third of what they cost otherwise.
//!     engine.concurrency_support(false);
//!     let engine = Engine::new(&engine)?;
//!     let component = Component::from_binary(&engine, COMPONENT)?;
//!     let mut linker = Linker::<MyState>::new(&engine);
//!     add_to_linker(&mut linker)?;
//!
//!     let redis = MyRedis(Mutex::new(leaseline_redis_model::Server::new(
//!         leaseline_redis_model::Options {
//!             profile: leaseline_redis_model::Profile::Redis72,
//!             clock: leaseline_redis_model::Clock::Wall,
//!         },
//!     )));
//!     let leaseline = Ctx::builder().redis("main", redis).build();
//!     let mut store = Store::new(&engine, MyState { leaseline, table: ResourceTable::new() });
//!     let instance =
//!         bindings::Component::instantiate_async(&mut store, &component, &linker).await?;
//!     let queues = instance.leaseline_queue_queue().queue();
//!
//!     let config = Config {
//!         redis: "main",
//!         name: "jobs",
//!         key_separator: "::",
//!         visibility_timeout_ms: Some(30_000),
//!         max_delivery_count: Some(10),
//!         dead_letter_queue: None,
//!         deduplication_ttl_ms: 3_600_000,
//!         completed: Log::Off,
//!         failed: Log::Off,
//!         max_payload_bytes: None,
//!         max_payload_depth: None,
//!         max_pending_length: None,
//!         overload_policy: OverloadPolicy::Raise,
//!         overload_block_timeout_ms: 1_000,
//!         strict_envelope_decoding: false,
//!         retry_budget_ms: 10_000,
//!         retry_initial_delay_ms: 10,
//!         retry_max_delay_ms: 5_000,
//!         command_timeout_ms: 5_000,
//!         cluster: false,
//!         event_buffer: 100,
//!     };
//!     let queue = queues.call_open(&mut store, config).await??;
//!
//!     let hello = Outgoing {
//!         payload: Payload::Bytes(b"hello"),
//!         deduplication_key: Some(b"greeting"),
//!         delay_ms: 0,
//!     };
//!     let published = queues.call_publish(&mut store, queue, &[hello]).await?;
//!     assert!(published[0].outcome.is_ok());
//!
//!     let claimed = queues.call_claim(&mut store, queue, 10, 0).await??;
//!     assert_eq!(claimed[0].payload.as_deref().unwrap(), b"hello");
//!
//!     let lease = &claimed[0].lease;
//!     let done = SettleRequest {
//!         lease: LeaseParam {
//!             stored: &lease.stored,
//!             token: lease.token.as_deref(),
//!             deadline_ms: lease.deadline_ms,
//!             not_after_ms: None,
//!         },
//!         settlement: Settlement::Ack,
//!         reason: None,
//!     };
//!     let settled = queues.call_settle(&mut store, queue, &[done]).await?;
//!     assert!(matches!(settled[0], Ok(SettleOutcome::Done)));
//!     Ok(())
//! }
//! ```
//!
//! Such a host decides about limits itself: memory ([`wasmtime::Store::limiter`]), what a call may
//! lift ([`wasmtime::Store::set_hostcall_fuel`]), computation (epochs or fuel), resources
//! ([`ResourceTable::set_max_capacity`](wasmtime::component::ResourceTable::set_max_capacity)).
//! Of [`Limits`] it gets those that concern commands and replies; before each call it says
//! [`Ctx::begin_call`].
//!
//! # Everything at once
//!
//! A [`Runtime`] holds the compiled component, a [`QueueInstance`] is one queue in one instance,
//! and an [`InstancePool`] keeps instances warm. All [`Limits`] hold. The calls and their types are
//! those of `leaseline_core::Queue`, so a program can have both engines.
//!
//! ```
//! use leaseline_core::Config;
//! use leaseline_core::message::Outgoing;
//! use leaseline_wasmtime::{Ctx, InstanceError, InstancePool, Redis, Runtime};
//!
//! async fn greet(redis: impl Redis + 'static) -> Result<(), InstanceError> {
//!     let runtime = Runtime::bundled().expect("this machine runs WebAssembly");
//!     let ctx = Ctx::builder().redis("main", redis).build();
//!     let pool = InstancePool::new(runtime, ctx, "main", Config::new("jobs"), 8);
//!
//!     let hello = Outgoing { payload: "hello".into(), ..Outgoing::default() };
//!     pool.acquire().await?.publish(&[hello]).await?;
//!     Ok(())
//! }
//! # fn main() {}
//! ```
//!
//! # Time
//!
//! Deadlines are kept where the outcome is known: a command's deadline by the [`Redis`] that the
//! embedder supplies, a call's own waiting (`wait_ms`, the retry budget) by the component. So no
//! call needs a timeout from outside. Who drops the future of a call nevertheless kills the
//! instance, and does not know whether the call had its effect.
//!
//! A component that computes without end is stopped by [`Limits::compute`]: a thread for each
//! [`Runtime`] lets time pass in ticks of 50 ms, and a guest that computes looks at the count. It
//! also yields at each tick, so that it does not starve other tasks of its thread.

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
