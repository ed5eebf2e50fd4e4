//! A Redis message queue with leases, fencing tokens and replayed claims.
//!
//! ```
//! # async fn run() -> Result<(), leaseline::Error> {
//! use std::time::Duration;
//! use leaseline::{Message, Queue};
//!
//! // Without an address the queue lives in this process; `.redis("redis://localhost")` for real.
//! let queue = Queue::builder("jobs").visibility_timeout(Duration::from_secs(30)).open().await?;
//! queue.publish(Message::text("hello").deduplication_key("order-1")).await?;
//! let done = queue
//!     .consumer()
//!     .concurrency(16)
//!     .heartbeat(Some(Duration::from_secs(10)))
//!     .until_empty(true)
//!     .run(|delivery| async move {
//!         println!("{}", String::from_utf8_lossy(delivery.payload()));
//!         Ok::<(), std::io::Error>(())
//!     })
//!     .await?;
//! assert_eq!(done.acked, 1);
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(run()).unwrap();
//! ```
//!
//! # Watching
//!
//! Cargo feature `metrics`: counters, gauges and histograms for the `metrics` facade; the module
//! `metrics` lists them and shows how to attach an exporter. Cargo feature `tracing`: spans
//! `publish`, `handle`, `settle`, `release` and `drain` (level info), `claim` and `renew` (debug), all
//! with the target `leaseline` and, as far as they are known, the fields `queue`, `messages` (how
//! many), `message_id`, `delivery_count` and `token` (where there is one message), `outcome`, `error`
//! and `error.kind`. Neither is on by default.
//!
//! # Guarantees
//!
//! At-least-once processing: a handler may run more than once for a message, so make it
//! idempotent or check the fencing token where its effects go. Exactly-once *claiming*: a claim
//! whose reply was lost is replayed with the same message and token. At most one unexpired lease
//! for each message, by server time. Stale acknowledgements are refused.

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

mod builder;
mod claiming;
mod connection;
mod consumer;
mod delivery;
pub mod embedded;
mod engine;
mod handling;
mod heartbeat;
mod instance;
#[cfg(not(feature = "metrics"))]
mod meter;
#[cfg(feature = "metrics")]
pub mod metrics;
mod outgoing;
mod pool;
mod queue;
#[cfg(feature = "tracing")]
mod span;
#[cfg(not(feature = "tracing"))]
#[path = "span/off.rs"]
mod span;
mod waking;

#[cfg(not(feature = "metrics"))]
use meter::Meter;
#[cfg(feature = "metrics")]
use metrics::Meter;

pub use builder::Builder;
pub use connection::{Connection, EMBEDDED};
pub use consumer::{Consumer, Progress};
pub use delivery::{Delivery, Lost};
pub use engine::Engine;
pub use handling::Handled;
/// The rules for the durations that a program takes from its users.
pub mod duration {
    pub use leaseline_core::renewal::{DurationError, DurationRule, setting_ms};
}
pub use leaseline_core::{
    Config, Error, ErrorKind, MAX_CLAIM, MAX_PEEK, Retry, capability, config, event, json, message,
};
pub use outgoing::Message;
pub use queue::Queue;
