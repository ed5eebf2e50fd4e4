//! The scripts on the in-process model: what they do when any one of their calls fails, when a
//! command is forbidden, when memory is full, when a key has another type.

mod claims;
mod contract;
mod delays;
mod faults;
mod instead;
mod lease_ends;
mod leases;
mod publishes;
mod random;
mod retries;
mod without_leases;
mod world;
