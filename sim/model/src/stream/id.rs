//! The ids of a stream's entries, and how they are written.

use std::fmt;

use crate::number;

/// A time in milliseconds and a number within it; two numbers of 64 bits in that order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct StreamId {
    pub(crate) ms: u64,
    pub(crate) sequence: u64,
}

/// The longest text that is read as an id.
const LONGEST_TEXT: usize = 127;

impl StreamId {
    pub(crate) const MIN: StreamId = StreamId { ms: 0, sequence: 0 };
    pub(crate) const MAX: StreamId = StreamId {
        ms: u64::MAX,
        sequence: u64::MAX,
    };

    /// The id after this one, if this is not the last of all.
    pub(crate) fn next(self) -> Option<Self> {
        match self.sequence.checked_add(1) {
            Some(sequence) => Some(StreamId { sequence, ..self }),
            None => Some(StreamId {
                ms: self.ms.checked_add(1)?,
                sequence: 0,
            }),
        }
    }

    /// The id before this one, if this is not the first of all.
    pub(crate) fn previous(self) -> Option<Self> {
        match self.sequence.checked_sub(1) {
            Some(sequence) => Some(StreamId { sequence, ..self }),
            None => Some(StreamId {
                ms: self.ms.checked_sub(1)?,
                sequence: u64::MAX,
            }),
        }
    }

    /// Reads `ms-sequence`, or `ms` alone with the sequence that is meant then.
    pub(crate) fn parse(text: &[u8], missing_sequence: u64) -> Option<Self> {
        match split(text)? {
            (ms, None) => Some(StreamId {
                ms: natural(ms)?,
                sequence: missing_sequence,
            }),
            (ms, Some(sequence)) => Some(StreamId {
                ms: natural(ms)?,
                sequence: natural(sequence)?,
            }),
        }
    }

    /// As [`StreamId::parse`], and `-` and `+` are the first and the last of all.
    pub(crate) fn parse_end(text: &[u8], missing_sequence: u64) -> Option<Self> {
        match text {
            b"-" => Some(StreamId::MIN),
            b"+" => Some(StreamId::MAX),
            _ => StreamId::parse(text, missing_sequence),
        }
    }

    /// The bytes by which Redis sorts ids.
    pub(super) fn to_bytes(self) -> [u8; 16] {
        let number = (u128::from(self.ms) << 64) | u128::from(self.sequence);
        number.to_be_bytes()
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.ms, self.sequence)
    }
}

/// What an entry that is to be added asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NewId {
    /// `*`: the time of the clock.
    Clock,
    /// `ms-*`: the next sequence within it.
    Within(u64),
    /// All of it.
    Exactly(StreamId),
}

impl NewId {
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        if text == b"*" {
            return Some(NewId::Clock);
        }
        match split(text)? {
            (ms, Some(b"*")) => Some(NewId::Within(natural(ms)?)),
            _ => StreamId::parse(text, 0).map(NewId::Exactly),
        }
    }
}

/// Cuts a text at its first hyphen. It is a C string: a NUL ends it.
fn split(text: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    if text.len() > LONGEST_TEXT {
        return None;
    }
    let text = text.split(|byte| *byte == 0).next()?;
    Some(match text.iter().position(|byte| *byte == b'-') {
        Some(hyphen) => (&text[..hyphen], Some(&text[hyphen + 1..])),
        None => (text, None),
    })
}

/// Reads a number of 64 bits as loosely as C's `strtoull`: leading space, zeros and signs are
/// fine, and what is below zero wraps round. Only a plain negative number is refused.
fn natural(text: &[u8]) -> Option<u64> {
    if let Some(number) = number::parse_integer(text) {
        return u64::try_from(number).ok();
    }
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let start = text.iter().take_while(|byte| is_space(byte)).count();
    let (negative, digits) = match &text[start..] {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return None;
    }
    let mut number = 0_u64;
    for digit in digits {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        number = number.checked_mul(10)?.checked_add(digit)?;
    }
    Some(if negative {
        number.wrapping_neg()
    } else {
        number
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(ms: u64, sequence: u64) -> StreamId {
        StreamId { ms, sequence }
    }

    #[test]
    fn ids_are_read_loosely() {
        for (text, expected) in [
            ("1", Some(id(1, 7))),
            ("01", Some(id(1, 7))),
            ("+5", Some(id(5, 7))),
            ("5-+1", Some(id(5, 1))),
            ("6--05", Some(id(6, u64::MAX - 4))),
            ("7- 3", Some(id(7, 3))),
            ("200\0x", Some(id(200, 7))),
            ("18446744073709551615", Some(id(u64::MAX, 7))),
            ("18446744073709551616", None),
            ("5-", None),
            ("5--5", None),
            ("-5", None),
            ("9-3 ", None),
            ("0x1", None),
            ("1-1-1", None),
            ("1-*", None),
            ("-", None),
            ("+", None),
            ("$", None),
            ("", None),
        ] {
            assert_eq!(StreamId::parse(text.as_bytes(), 7), expected, "{text:?}");
        }
        assert_eq!(StreamId::parse(&[b'0'; 128], 0), None);
        assert_eq!(StreamId::parse(&[b'0'; 127], 0), Some(StreamId::MIN));
        assert_eq!(StreamId::parse_end(b"-", 0), Some(StreamId::MIN));
        assert_eq!(StreamId::parse_end(b"+", 0), Some(StreamId::MAX));
    }

    #[test]
    fn new_ids_may_leave_a_part_open() {
        assert_eq!(NewId::parse(b"*"), Some(NewId::Clock));
        assert_eq!(NewId::parse(b"5-*"), Some(NewId::Within(5)));
        assert_eq!(NewId::parse(b"5"), Some(NewId::Exactly(id(5, 0))));
        for bad in [&b"5-**"[..], b"*-1", b"*-*", b"+"] {
            assert_eq!(NewId::parse(bad), None);
        }
    }

    #[test]
    fn neighbours() {
        assert_eq!(id(1, u64::MAX).next(), Some(id(2, 0)));
        assert_eq!(id(2, 0).previous(), Some(id(1, u64::MAX)));
        assert_eq!(StreamId::MAX.next(), None);
        assert_eq!(StreamId::MIN.previous(), None);
        assert_eq!(
            id(1, 2).next().map(|id| id.to_string()).as_deref(),
            Some("1-3")
        );
    }
}
