//! Texts into numbers.

/// Reads an integer as strictly as Redis: no sign but `-`, no leading zero, no space, no `-0`.
pub(crate) fn parse_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    // Accumulated below zero, where one number more fits.
    let mut value = 0_i64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value
            .checked_mul(10)?
            .checked_sub(i64::from(digit - b'0'))?;
    }
    if negative {
        Some(value)
    } else {
        value.checked_neg()
    }
}

/// A score: all of `text` must be a number, and in range.
pub(crate) fn parse_score(text: &[u8]) -> Option<f64> {
    if text.is_empty() || is_space(text[0]) {
        return None;
    }
    let number = strtod(text);
    let whole = number.used == text.len();
    (whole && !number.out_of_range && !number.value.is_nan()).then_some(number.value)
}

/// What [`strtod`] found at the start of a text.
pub(crate) struct Number {
    pub(crate) value: f64,
    /// How many bytes belong to the number; 0 means that there is none.
    pub(crate) used: usize,
    /// Too large, or so small that only zero is left (C's `ERANGE`, but subnormals are fine).
    pub(crate) out_of_range: bool,
}

/// C's `strtod`: leading space, sign, decimal or hexadecimal digits, `inf`, `nan`.
pub(crate) fn strtod(text: &[u8]) -> Number {
    let none = Number {
        value: 0.0,
        used: 0,
        out_of_range: false,
    };
    let start = text
        .iter()
        .position(|byte| !is_space(*byte))
        .unwrap_or(text.len());
    let (sign, digits) = match text[start..] {
        [b'-', ..] => (-1.0, start + 1),
        [b'+', ..] => (1.0, start + 1),
        _ => (1.0, start),
    };
    let rest = &text[digits..];
    let (value, length, out_of_range) = if starts_with_ignoring_case(rest, b"infinity") {
        (f64::INFINITY, 8, false)
    } else if starts_with_ignoring_case(rest, b"inf") {
        (f64::INFINITY, 3, false)
    } else if starts_with_ignoring_case(rest, b"nan") {
        (f64::NAN, 3 + nan_payload(&rest[3..]), false)
    } else if let Some(found) = hexadecimal(rest) {
        found
    } else if let Some(found) = decimal(rest) {
        found
    } else {
        return none;
    };
    Number {
        value: value.copysign(sign),
        used: digits + length,
        out_of_range,
    }
}

/// C's `isspace`.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn starts_with_ignoring_case(text: &[u8], prefix: &[u8]) -> bool {
    text.len() >= prefix.len() && text[..prefix.len()].eq_ignore_ascii_case(prefix)
}

/// The length of the `(letters)` that may follow `nan`.
fn nan_payload(text: &[u8]) -> usize {
    if text.first() != Some(&b'(') {
        return 0;
    }
    let end = 1 + run_length(&text[1..], |byte| {
        byte.is_ascii_alphanumeric() || byte == b'_'
    });
    if text.get(end) == Some(&b')') {
        end + 1
    } else {
        0
    }
}

fn run_length(text: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| wanted(**byte)).count()
}

/// The length of `e+12` at the start of `text`, or 0.
fn exponent_length(text: &[u8], letter: u8) -> usize {
    if !text
        .first()
        .is_some_and(|byte| byte.eq_ignore_ascii_case(&letter))
    {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    match run_length(&text[1 + sign..], |byte| byte.is_ascii_digit()) {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

fn decimal(text: &[u8]) -> Option<(f64, usize, bool)> {
    let whole = run_length(text, |byte| byte.is_ascii_digit());
    let mut length = whole;
    if text.get(whole) == Some(&b'.') {
        let fraction = run_length(&text[whole + 1..], |byte| byte.is_ascii_digit());
        if whole + fraction == 0 {
            return None;
        }
        length += 1 + fraction;
    } else if whole == 0 {
        return None;
    }
    let mantissa = length;
    length += exponent_length(&text[length..], b'e');
    let value: f64 = std::str::from_utf8(&text[..length]).ok()?.parse().ok()?;
    let is_zero = !text[..mantissa]
        .iter()
        .any(|byte| (b'1'..=b'9').contains(byte));
    Some((
        value,
        length,
        value.is_infinite() || (value == 0.0 && !is_zero),
    ))
}

fn hexadecimal(text: &[u8]) -> Option<(f64, usize, bool)> {
    if !starts_with_ignoring_case(text, b"0x") {
        return None;
    }
    let (mut mantissa, mut exponent, mut digits, mut seen_point) = (0_u128, 0_i32, 0, false);
    let mut length = 2;
    while let Some(byte) = text.get(length) {
        match char::from(*byte).to_digit(16) {
            Some(digit) => {
                digits += 1;
                if mantissa >> 120 == 0 {
                    mantissa = mantissa << 4 | u128::from(digit);
                    exponent = exponent.saturating_sub(if seen_point { 4 } else { 0 });
                } else {
                    // Far below the last bit that counts: only whether it was zero matters.
                    mantissa |= u128::from(digit != 0);
                    exponent = exponent.saturating_add(if seen_point { 0 } else { 4 });
                }
            }
            None if *byte == b'.' && !seen_point => seen_point = true,
            None => break,
        }
        length += 1;
    }
    if digits == 0 {
        return None; // "0x" alone is a zero followed by an x, which `decimal` finds
    }
    let power = exponent_length(&text[length..], b'p');
    if power > 0 {
        let written = std::str::from_utf8(&text[length + 1..length + power]).ok()?;
        // An exponent that does not fit in 32 bits is out of range on either side.
        let written = written
            .parse::<i32>()
            .unwrap_or(if written.starts_with('-') {
                i32::MIN
            } else {
                i32::MAX
            });
        exponent = exponent.saturating_add(written);
        length += power;
    }
    let mut value = mantissa as f64;
    // Two steps, because the power alone may overflow where the product does not.
    for part in [exponent / 2, exponent - exponent / 2] {
        value *= 2_f64.powi(part);
    }
    Some((
        value,
        length,
        value.is_infinite() || (value == 0.0 && mantissa != 0),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_strict() {
        for (text, value) in [
            ("0", Some(0)),
            ("-1", Some(-1)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-9223372036854775809", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(parse_integer(text.as_bytes()), value, "{text:?}");
        }
        for text in ["", "-", "-0", "+1", "01", " 1", "1 ", "1.0", "1e3", "0x1"] {
            assert_eq!(parse_integer(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn scores_are_what_strtod_reads() {
        for (text, value) in [
            ("1.5", 1.5),
            ("+5", 5.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("3.0e2", 300.0),
            ("-Infinity", f64::NEG_INFINITY),
            ("INF", f64::INFINITY),
            ("0x10", 16.0),
            ("0x1.8p1", 3.0),
            ("0x.8", 0.5),
            ("5e-324", 5e-324),
            ("0e999", 0.0),
        ] {
            assert_eq!(parse_score(text.as_bytes()), Some(value), "{text:?}");
        }
        for text in [
            "",
            " 1",
            "1 ",
            "nan",
            "abc",
            "(1",
            "1e400",
            "-1e400",
            "1e-400",
            "0x",
            "1e",
            ".",
            "+",
            "1\0",
            "0x1p99999",
        ] {
            assert_eq!(parse_score(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn strtod_stops_at_the_first_foreign_byte() {
        for (text, value, used) in [
            ("12abc", 12.0, 2),
            ("1e+", 1.0, 1),
            ("0xg", 0.0, 1),
            ("  -7]", -7.0, 4),
            ("infx", f64::INFINITY, 3),
        ] {
            let number = strtod(text.as_bytes());
            assert_eq!((number.value, number.used), (value, used), "{text:?}");
        }
        assert_eq!(strtod(b"nan(ab_1)x").used, 9);
        assert_eq!(strtod(b"nan(a").used, 3);
    }
}
