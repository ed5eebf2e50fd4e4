//! Arguments of commands, read with the errors that Redis gives.

use crate::number;
use crate::refusal::Refusal;
use crate::sorted_set::{Bound, ScoreRange};
use crate::stream::StreamId;

/// A 64-bit integer.
pub(crate) fn integer(text: &[u8]) -> Result<i64, Refusal> {
    number::parse_integer(text).ok_or(Refusal::NotInteger)
}

/// How many elements to take: zero or more.
pub(crate) fn count(text: &[u8]) -> Result<usize, Refusal> {
    match number::parse_integer(text) {
        Some(n) if n >= 0 => Ok(usize::try_from(n).unwrap_or(usize::MAX)),
        _ => Err(Refusal::NotPositive),
    }
}

/// A number from 0 on, with the error of the option that it belongs to.
pub(crate) fn natural(text: &[u8], otherwise: &'static str) -> Result<usize, Refusal> {
    number::parse_integer(text)
        .filter(|number| *number >= 0)
        .map(|number| usize::try_from(number).unwrap_or(usize::MAX))
        .ok_or(Refusal::Text(otherwise))
}

/// As [`natural`], from 1 on.
pub(crate) fn positive(text: &[u8], otherwise: &'static str) -> Result<usize, Refusal> {
    match natural(text, otherwise)? {
        0 => Err(Refusal::Text(otherwise)),
        number => Ok(number),
    }
}

/// A score, or what to add to one.
pub(crate) fn score(text: &[u8]) -> Result<f64, Refusal> {
    number::parse_score(text).ok_or(Refusal::NotFloat)
}

/// Both ends of a range of scores; `(` before one leaves it out.
///
/// Laxer than [`score`], as in Redis: leading space, an empty text and overflow all pass.
pub(crate) fn score_range(min: &[u8], max: &[u8]) -> Result<ScoreRange, Refusal> {
    Ok(ScoreRange {
        min: bound(min)?,
        max: bound(max)?,
    })
}

fn bound(text: &[u8]) -> Result<Bound, Refusal> {
    let (exclusive, digits) = match text {
        [b'(', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let number = number::strtod(digits);
    // The text is a C string there: a NUL ends it.
    let ends = matches!(digits.get(number.used), None | Some(0));
    if !ends || number.value.is_nan() {
        return Err(Refusal::NotRange);
    }
    Ok(Bound {
        score: number.value,
        exclusive,
    })
}

/// The id of a stream's entry.
pub(crate) fn stream_id(text: &[u8]) -> Result<StreamId, Refusal> {
    StreamId::parse(text, 0).ok_or(Refusal::StreamId)
}

/// The first id of a range; `(` before it leaves it out.
pub(crate) fn range_start(text: &[u8]) -> Result<StreamId, Refusal> {
    match text {
        [b'(', rest @ ..] if !rest.is_empty() => stream_id(rest)?
            .next()
            .ok_or(Refusal::Text("ERR invalid start ID for the interval")),
        _ => StreamId::parse_end(text, 0).ok_or(Refusal::StreamId),
    }
}

/// The last id of a range, likewise.
pub(crate) fn range_end(text: &[u8]) -> Result<StreamId, Refusal> {
    match text {
        [b'(', rest @ ..] if !rest.is_empty() => StreamId::parse(rest, u64::MAX)
            .ok_or(Refusal::StreamId)?
            .previous()
            .ok_or(Refusal::Text("ERR invalid end ID for the interval")),
        _ => StreamId::parse_end(text, u64::MAX).ok_or(Refusal::StreamId),
    }
}

/// Whether an argument is this word, in any case.
pub(crate) fn is(argument: &[u8], word: &str) -> bool {
    argument.eq_ignore_ascii_case(word.as_bytes())
}

/// An argument as error texts show it: up to a NUL, and on one line.
pub(crate) fn shown(argument: &[u8]) -> Vec<u8> {
    let end = argument.iter().position(|byte| *byte == 0);
    spaced(&argument[..end.unwrap_or(argument.len())])
}

/// A text without line ends, which would break the protocol.
pub(crate) fn spaced(text: &[u8]) -> Vec<u8> {
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    text.iter()
        .map(|byte| if is_end(byte) { b' ' } else { *byte })
        .collect()
}

/// The elements from `start` to `stop` of `length`, where negative positions count from the end.
pub(crate) fn slice(start: i64, stop: i64, length: usize) -> std::ops::Range<usize> {
    let length = length as i64;
    let from_head = |position: i64| {
        if position < 0 {
            position.saturating_add(length)
        } else {
            position
        }
    };
    let start = from_head(start).max(0);
    let stop = from_head(stop).min(length - 1);
    if start > stop {
        0..0
    } else {
        start as usize..stop as usize + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_clamped() {
        for (start, stop, expected) in [
            (0, -1, 0..5),
            (-100, 100, 0..5),
            (3, 1, 0..0),
            (5, 10, 0..0),
            (-2, -1, 3..5),
            (0, -100, 0..0),
            (i64::MIN, i64::MAX, 0..5),
        ] {
            assert_eq!(slice(start, stop, 5), expected, "{start} {stop}");
        }
        assert_eq!(slice(0, -1, 0), 0..0);
    }

    #[test]
    fn ranges_of_scores() {
        let range = score_range(b"(1", b"+inf").unwrap();
        assert!(range.min.exclusive && !range.max.exclusive);
        assert_eq!((range.min.score, range.max.score), (1.0, f64::INFINITY));
        assert_eq!(
            score_range(b"", b" 1e999").unwrap().max.score,
            f64::INFINITY
        );
        for bad in [&b"x"[..], b"((1", b"nan", b"1 "] {
            assert_eq!(score_range(bad, b"1").unwrap_err(), Refusal::NotRange);
        }
    }
}
