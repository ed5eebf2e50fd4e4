//! Types of the WIT world from and to those of `leaseline-core`, which mirror each other.

pub(crate) mod config;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod message;
pub(crate) mod reply;
