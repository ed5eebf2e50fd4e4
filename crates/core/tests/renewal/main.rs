//! The numbered invariants of the specification (§14) on the pure table.

mod durations;
mod handles;
mod outcomes;
mod play;
mod table;
mod timing;
