//! Adds the component's imports to a linker.

use wasmtime::component::Linker;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::p2::bindings::io::poll;
use wasmtime_wasi::p2::bindings::random::random;

use crate::bindings::leaseline::redis::client;
use crate::ctx::{HasCtx, HasTable, View};

/// Adds everything that the component imports, and nothing else: Redis, timers, the monotonic
/// clock, random bytes. No file, socket, environment or output.
///
/// # Errors
///
/// When the linker has one of these interfaces already. For hosts that link all of WASI there is
/// [`add_redis_to_linker`].
pub fn add_to_linker<T: View>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    add_redis_to_linker(linker)?;
    poll::add_to_linker::<T, HasTable>(linker, |state| state.leaseline().table)?;
    monotonic_clock::add_to_linker::<T, HasCtx>(linker, T::leaseline)?;
    random::add_to_linker::<T, HasCtx>(linker, T::leaseline)
}

/// Adds `leaseline:redis/client` alone, for hosts that have the WASI interfaces from elsewhere.
///
/// # Errors
///
/// When the linker has the interface already.
pub fn add_redis_to_linker<T: View>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    client::add_to_linker::<T, HasCtx>(linker, T::leaseline)
}
