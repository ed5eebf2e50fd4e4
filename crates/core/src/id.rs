//! Ids of messages, claims and operations: 32 hexadecimal digits of a version 4 UUID.

use alloc::string::String;

use crate::capability::Entropy;

/// A new id.
pub(crate) fn mint(entropy: &impl Entropy) -> String {
    let mut bytes = [0; 16];
    entropy.fill(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    hex::encode(bytes)
}
