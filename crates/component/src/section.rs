//! Custom sections of a WebAssembly binary.
//!
//! This file is also compiled into the build script and into `xtask`, so it stands alone.

/// The custom section that holds the digest of the sources.
pub(crate) const SOURCE_SECTION: &str = "leaseline:source";

/// How every WebAssembly binary begins; four bytes of version and kind follow.
const MAGIC: &[u8; 4] = b"\0asm";
const PREAMBLE_LENGTH: usize = 8;
const CUSTOM: u8 = 0;

/// The contents of the first top-level custom section called `name`.
///
/// `None` when there is none, and when the bytes are damaged before it: every length is checked,
/// so any bytes may be passed.
pub(crate) fn find<'a>(wasm: &'a [u8], name: &str) -> Option<&'a [u8]> {
    if !wasm.starts_with(MAGIC) {
        return None;
    }
    let mut rest = wasm.get(PREAMBLE_LENGTH..)?;
    while let Some((&id, after_id)) = rest.split_first() {
        let (section, after_section) = take_prefixed(after_id)?;
        if id == CUSTOM {
            let (section_name, contents) = take_prefixed(section)?;
            if section_name == name.as_bytes() {
                return Some(contents);
            }
        }
        rest = after_section;
    }
    None
}

/// Splits off as many bytes as the length in front says.
fn take_prefixed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = take_u32(bytes)?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

/// Reads a `u32` in LEB128: seven bits a byte, the lowest first, at most five bytes.
fn take_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let mut value = 0_u64;
    for (index, &byte) in bytes.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Some((u32::try_from(value).ok()?, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

    fn with_sections(sections: &[&[u8]]) -> Vec<u8> {
        [COMPONENT, &sections.concat()].concat()
    }

    #[test]
    fn the_first_section_of_that_name_is_found() {
        let wasm = with_sections(&[
            b"\x07\x03xyz",
            b"\0\x04\x01aAB",
            b"\0\x03\x01bC",
            b"\0\x03\x01bD",
        ]);
        assert_eq!(find(&wasm, "a"), Some(&b"AB"[..]));
        assert_eq!(find(&wasm, "b"), Some(&b"C"[..]));
        assert_eq!(find(&wasm, "c"), None);
    }

    #[test]
    fn damaged_bytes_have_no_section() {
        for bytes in [
            &b""[..],
            b"\0asm",
            b"not wasm at all",
            b"\0asm\x0d\0\x01\0\0",
            b"\0asm\x0d\0\x01\0\0\xff\xff\xff\xff\xff\xff",
            b"\0asm\x0d\0\x01\0\0\xff\xff\xff\xff\x0f",
            b"\0asm\x0d\0\x01\0\0\x02\x05a",
        ] {
            assert_eq!(find(bytes, "a"), None, "{bytes:?}");
        }
    }

    #[test]
    fn every_cut_of_a_binary_is_survived() {
        let wasm = with_sections(&[b"\x07\x03xyz", b"\0\x04\x01aAB"]);
        for end in 0..wasm.len() {
            assert_eq!(find(&wasm[..end], "a"), None);
        }
    }
}
