//! The numbered invariants of the specification (§14) on the pure table.

mod durations;
mod handles;
mod history;
mod lifecycle;
mod outcomes;
mod play;
mod stopping;
mod table;
mod timing;
