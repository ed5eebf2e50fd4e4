//! The component's renewal table and the native one are the same table, and the worker runs on both:
//! its tests of stops, times and failures are those of `leaseline-renewal`.

mod component;
#[path = "../../../renewal/tests/worker/failing.rs"]
mod failing;
mod parity;
#[path = "../../../renewal/tests/worker/stopping.rs"]
mod stopping;
#[path = "../support/mod.rs"]
mod support;
mod table;
#[path = "../../../renewal/tests/worker/timing.rs"]
mod timing;
#[path = "../../../renewal/tests/worker/world.rs"]
#[allow(
    dead_code,
    reason = "some of it is for tests that run on core's table only"
)]
mod world;
