//! The Leaseline component: the exports of its world over `leaseline-core`, over its imports.
//!
//! No decision is made here. Records are converted, calls are passed on, and every future is
//! ready at its first poll because the imports block.
//!
//! On other targets this crate is compiled only to be checked: its imports have no host there.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

mod bindings;
mod capability;
mod convert;
mod executor;
mod queue;
mod renewal;
#[cfg(target_arch = "wasm32")]
mod runtime;

/// What the world's exports hang on.
struct Component;

#[allow(
    unsafe_code,
    reason = "the exported symbols are the component's interface"
)]
mod export {
    use super::Component;

    crate::bindings::export!(Component with_types_in crate::bindings);
}
