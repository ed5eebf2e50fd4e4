//! What `SCAN`, `HSCAN`, `SSCAN` and `ZSCAN` are called with, and how they answer.

use crate::arguments::{integer, is};
use crate::glob;
use crate::refusal::Refusal;
use crate::reply::Reply;

/// C's `strtoul` on the whole text: a sign is fine, and a negative cursor wraps round. A NUL ends
/// the text, and none at all is zero.
pub(super) fn cursor(text: &[u8]) -> Result<u64, Refusal> {
    let text = text.split(|byte| *byte == 0).next().unwrap_or_default();
    let (negative, digits) = match text {
        [] => return Ok(0),
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let digits = std::str::from_utf8(digits).ok();
    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let value = digits
        .and_then(|digits| digits.parse::<u64>().ok())
        .ok_or(Refusal::Text("ERR invalid cursor"))?;
    Ok(if negative {
        value.wrapping_neg()
    } else {
        value
    })
}

/// The options after the cursor.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScanRequest<'a> {
    pattern: Option<&'a [u8]>,
    /// The type of the wanted keys, of `SCAN` alone.
    pub(super) kind: Option<&'a [u8]>,
}

impl<'a> ScanRequest<'a> {
    pub(super) fn parse(words: &[&'a [u8]], of_keys: bool) -> Result<Self, Refusal> {
        let mut request = ScanRequest {
            pattern: None,
            kind: None,
        };
        let (options, rest) = words.as_chunks::<2>();
        for [option, value] in options {
            if is(option, "count") {
                if integer(value)? < 1 {
                    return Err(Refusal::Syntax);
                }
            } else if is(option, "match") {
                request.pattern = Some(value);
            } else if of_keys && is(option, "type") {
                request.kind = Some(value);
            } else {
                return Err(Refusal::Syntax);
            }
        }
        match rest {
            [] => Ok(request),
            _ => Err(Refusal::Syntax),
        }
    }

    pub(super) fn matches(&self, name: &[u8]) -> bool {
        self.pattern
            .is_none_or(|pattern| glob::matches(pattern, name))
    }
}

/// The answer of a scan that is through with these.
pub(super) fn scanned(found: impl Iterator<Item = Reply>) -> Reply {
    Reply::Array(vec![Reply::bulk("0"), Reply::Array(found.collect())])
}

#[cfg(test)]
mod tests {
    use super::cursor;

    #[test]
    fn cursors_are_what_strtoul_reads() {
        for (text, value) in [
            (&b"0"[..], Some(0)),
            (b"", Some(0)),
            (b"007", Some(7)),
            (b"+7", Some(7)),
            (b"-1", Some(u64::MAX)),
            (b"18446744073709551615", Some(u64::MAX)),
            (b"18446744073709551616", None),
            (b"7\0x", Some(7)),
            (b"\0", Some(0)),
            (b" 7", None),
            (b"7 ", None),
            (b"-", None),
            (b"+-7", None),
            (b"x", None),
        ] {
            assert_eq!(cursor(text).ok(), value, "{text:?}");
        }
    }
}
