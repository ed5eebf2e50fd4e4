//! Redis Cluster hash slots: all keys of a queue must share one.

use crc::{CRC_16_XMODEM, Crc};

const SLOT_CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The slot of a key: the part between the first brace pair decides, if it is not empty.
pub fn slot(key: &[u8]) -> u16 {
    SLOT_CRC.checksum(tag(key).unwrap_or(key)) % 16384
}

/// The hash tag of a key, if it has one.
pub fn tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|&byte| byte == b'{')?;
    let length = key[open + 1..].iter().position(|&byte| byte == b'}')?;
    (length > 0).then(|| &key[open + 1..open + 1 + length])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_follow_the_cluster_specification() {
        assert_eq!(slot(b"123456789"), 0x31c3);
        assert_eq!(slot(b"{user1000}.following"), slot(b"{user1000}.followers"));
        assert_eq!(tag(b"pre{x}post"), Some(b"x".as_slice()));
        assert_eq!(tag(b"{}{x}"), None);
        assert_eq!(tag(b"foo{{bar}}"), Some(b"{bar".as_slice()));
        assert_eq!(tag(b"plain"), None);
    }
}
