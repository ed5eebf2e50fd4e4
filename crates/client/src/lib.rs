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
//! # Guarantees
//!
//! At-least-once processing: a handler may run more than once for a message, so make it
//! idempotent or check the fencing token where its effects go. Exactly-once *claiming*: a claim
//! whose reply was lost is replayed with the same message and token. At most one unexpired lease
//! for each message, by server time. Stale acknowledgements are refused.

mod builder;
mod claiming;
mod connection;
mod consumer;
mod delivery;
pub mod embedded;
mod engine;
mod handling;
mod instance;
mod outgoing;
mod pool;
mod queue;
mod waking;

pub use builder::Builder;
pub use connection::{Connection, EMBEDDED};
pub use consumer::{Consumer, Progress};
pub use delivery::{Delivery, Lost};
pub use engine::Engine;
pub use handling::Handled;
pub use leaseline_core::{
    Config, Error, ErrorKind, MAX_CLAIM, MAX_PEEK, Retry, capability, config, event, json, message,
};
pub use outgoing::Message;
pub use queue::Queue;
