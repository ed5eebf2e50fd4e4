//! Fencing tokens: decimal text. The scripts ask only whether two are the same text; whoever wants
//! to know which is newer compares them as numbers.

use alloc::string::String;

use sha2::{Digest as _, Sha256};

/// The label-safe form of a token that events carry.
pub(crate) fn hash(token: &str) -> String {
    hex::encode(&Sha256::digest(token.as_bytes())[..8])
}

/// Whether this can be a token: it becomes part of a key's name.
pub(crate) fn is_valid(token: &str) -> bool {
    !token.is_empty() && token.len() <= 20 && token.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_equals_the_recorded_ones() {
        assert_eq!(hash("1"), "6b86b273ff34fce1");
        assert_eq!(hash("2"), "d4735e3a265e16ee");
    }
}
