//! Random bytes for guests.

use leaseline_core::capability::Entropy;
use rand::Rng;

/// A cryptographic generator that the operating system seeds.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        rand::rng().fill_bytes(bytes);
    }
}
