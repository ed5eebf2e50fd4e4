//! Records of the world from and to the types of `leaseline-core`, which mirror each other.

mod config;
mod error;
mod event;
mod message;

pub(crate) use config::config;
pub(crate) use error::error;
pub(crate) use event::event_batch;
pub(crate) use message::{
    delivery, lease, list, outgoing, peeked, publish_reply, release_outcome, release_request,
    renew_outcome, settle_outcome, settle_request, stats,
};
