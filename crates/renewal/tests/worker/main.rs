//! The invariants of the specification (§14) on the worker, in a time that waits for it.

mod events;
mod failing;
mod healing;
mod lifecycle;
mod starting;
mod stopping;
mod table;
mod timing;
mod world;
