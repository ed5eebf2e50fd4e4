//! Random bytes, from `wasi:random/random`.

use leaseline_core::capability::Entropy;

use crate::bindings::wasi::random::random::get_random_bytes;

/// The host's random number generator.
pub(crate) struct HostEntropy;

impl Entropy for HostEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // A host that gives another number of bytes is broken, and guessable ids would be worse
        // than the panic.
        bytes.copy_from_slice(&get_random_bytes(bytes.len() as u64));
    }
}
