//! Embeds the Leaseline component in a wasmtime host.
