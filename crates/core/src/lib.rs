//! The queue logic of Leaseline: keys, envelopes, scripts, claims and errors, without I/O.
#![no_std]

extern crate alloc;

pub mod capability;
pub mod config;
pub mod error;
pub mod event;
pub mod key;
pub mod message;

pub use config::Config;
pub use error::{Error, ErrorKind, Retry};
