//! The world `leaseline:queue/component` as wasmtime's `bindgen!` macro makes it.
//!
//! Hosts that want the component without the comforts of this crate call these bindings; the
//! front page shows how. Types of WASI are those of `wasmtime-wasi`.
#![allow(
    missing_docs,
    reason = "generated from documented WIT, not every item gets its text"
)]
#![allow(unsafe_code, reason = "generated code lifts and lowers values")]
#![allow(
    unreachable_pub,
    reason = "generated code does not know how it is used"
)]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "leaseline:queue/component",
    imports: {
        // Commands wait for the network: the guest's fiber is suspended meanwhile.
        "leaseline:redis/client.[method]connection.execute": async | trappable,
        "leaseline:redis/client.[method]connection.pipeline": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    with: {
        "leaseline:redis/client.connection": crate::connection::Connection,
        "wasi:io/poll": wasmtime_wasi::p2::bindings::io::poll,
        "wasi:clocks/monotonic-clock": wasmtime_wasi::p2::bindings::clocks::monotonic_clock,
        "wasi:random/random": wasmtime_wasi::p2::bindings::random::random,
    },
    // Payloads go into the guest as slices; they would be copied once more otherwise.
    ownership: Borrowing { duplicate_if_necessary: true },
    require_store_data_send: true,
});
