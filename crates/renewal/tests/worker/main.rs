//! The invariants of the specification (§14) on the worker, in a time that waits for it.

mod failing;
mod healing;
mod starting;
mod stopping;
mod timing;
mod world;
