//! The text side of `cjson`: reading tokens and writing escapes, as lua-cjson 2.1.0 does.
//!
//! Not a general JSON reader. It accepts what lua-cjson accepts (`NaN`, `0x10`, `01`), passes
//! bytes from 128 on through unchanged, and words its errors alike, because scripts hand those
//! errors on to clients.

mod scanner;

use crate::number;

pub(super) use scanner::{Scanner, Token};

/// What the setters of `cjson` change. It outlives a script: one that sets it sets it for all,
/// until `SCRIPT FLUSH`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    pub(super) sparse_convert: bool,
    pub(super) sparse_ratio: i32,
    pub(super) sparse_safe: i32,
    pub(super) encode_max_depth: i32,
    pub(super) decode_max_depth: i32,
    pub(super) encode_invalid_numbers: InvalidNumbers,
    pub(super) decode_invalid_numbers: bool,
    pub(super) keep_buffer: bool,
    pub(super) precision: i32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sparse_convert: false,
            sparse_ratio: 2,
            sparse_safe: 10,
            encode_max_depth: 1000,
            decode_max_depth: 1000,
            encode_invalid_numbers: InvalidNumbers::Refuse,
            decode_invalid_numbers: true,
            keep_buffer: true,
            precision: 14,
        }
    }
}

/// How to encode NaN and the infinities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InvalidNumbers {
    Refuse,
    Write,
    Null,
}

impl Settings {
    /// Appends a number, or says why not.
    pub(super) fn write_number(&self, out: &mut Vec<u8>, value: f64) -> Result<(), &'static str> {
        let text = match self.encode_invalid_numbers {
            InvalidNumbers::Refuse if !value.is_finite() => {
                return Err("must not be NaN or Inf");
            }
            InvalidNumbers::Write if value.is_nan() => "nan".to_owned(),
            InvalidNumbers::Null if !value.is_finite() => "null".to_owned(),
            _ => number::format_g(value, self.precision as usize),
        };
        out.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Appends a string in quotes.
pub(super) fn write_string(out: &mut Vec<u8>, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for &byte in bytes {
        let short = match byte {
            8 => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            12 => b'f',
            b'\r' => b'r',
            b'"' | b'/' | b'\\' => byte,
            0..=31 | 127 => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
                continue;
            }
            _ => {
                out.push(byte);
                continue;
            }
        };
        out.extend_from_slice(&[b'\\', short]);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::write_string;

    #[test]
    fn escapes_of_strings() {
        let mut out = Vec::new();
        write_string(&mut out, b"a\nb\"c/d\\\0\x08\x0c\x7f\xc8");
        assert_eq!(out, b"\"a\\nb\\\"c\\/d\\\\\\u0000\\b\\f\\u007f\xc8\"");
    }
}
