//! The queue logic of Leaseline: keys, envelopes, scripts, claims and errors, without I/O.
//!
//! This crate decides everything about a queue and does nothing by itself. A host gives it three
//! capabilities ([`capability::Redis`], [`capability::Clock`], [`capability::Entropy`]) and calls
//! a [`Queue`]. The same code runs natively, inside the WebAssembly component, and in a simulator.
//!
//! Queues are shared, key for key, with the Python library `redis-message-queue` 8.3.0 to 11.0.1.
//!
//! # Guarantees
//!
//! At-least-once processing. Exactly-once *claiming*: for every claim id the claim is applied at
//! most once, and every answer for that id names the same message and the same token. At most one
//! unexpired lease for each message, by server time. Stale acknowledgements are refused.
#![no_std]

extern crate alloc;

mod caller;
pub mod capability;
mod claim_ids;
pub mod config;
#[cfg(test)]
mod contract;
pub mod envelope;
pub mod error;
pub mod event;
mod id;
pub mod json;
pub mod key;
pub mod message;
mod queue;
pub mod renewal;
mod reply;
mod retry;
pub mod script;
pub mod slot;
mod token;
pub mod waiting;

pub use config::Config;
pub use error::{Error, ErrorKind, Retry};
pub use queue::{MAX_CLAIM, MAX_PEEK, Queue};
