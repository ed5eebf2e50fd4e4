//! Strings as Python writes them.

use alloc::vec::Vec;

use crate::envelope::MAX_STORED_BYTES;

/// Text is escaped in pieces of at most this many bytes, so that no second copy of it is made.
const PIECE_BYTES: usize = 4096;

/// Appends a JSON string in which everything outside `0x20..0x7E` is escaped, as Python's
/// `json.dumps` does by default, and DEL too. Stops soon after [`MAX_STORED_BYTES`].
pub(crate) fn write(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text;
    while !rest.is_empty() && out.len() <= MAX_STORED_BYTES {
        let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        // Writing a string into memory cannot fail.
        let json = serde_json::to_string(piece).unwrap_or_default();
        let inner = json
            .strip_prefix('"')
            .and_then(|json| json.strip_suffix('"'));
        escape_beyond_ascii(out, inner.unwrap_or_default());
        rest = behind;
    }
    out.push(b'"');
}

fn escape_beyond_ascii(out: &mut Vec<u8>, json: &str) {
    let mut rest = json;
    while let Some(at) = rest.find(|c: char| !(' '..='~').contains(&c)) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        let mut tail = rest[at..].chars();
        if let Some(character) = tail.next() {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(b"\\u");
                out.extend_from_slice(hex::encode(unit.to_be_bytes()).as_bytes());
            }
        }
        rest = tail.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
}
