//! Numbers as Redis, C and Lua read and write them.
//!
//! Three formats matter and must not be mixed up: `%.17g` (arguments from scripts and scores of
//! 7.0), `%.14g` (Lua's own `tostring`, JSON) and the shortest text that reads back (7.2).

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

fn is_space(byte: u8) -> bool {
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
    let end = 1 + run_length(&text[1..], |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if text.get(end) == Some(&b')') { end + 1 } else { 0 }
}

fn run_length(text: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|byte| wanted(**byte)).count()
}

/// The length of `e+12` at the start of `text`, or 0.
fn exponent_length(text: &[u8], letter: u8) -> usize {
    if !text.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&letter)) {
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
    let is_zero = !text[..mantissa].iter().any(|byte| (b'1'..=b'9').contains(byte));
    Some((value, length, value.is_infinite() || (value == 0.0 && !is_zero)))
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
        let written = written.parse::<i32>().unwrap_or(if written.starts_with('-') {
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
    Some((value, length, value.is_infinite() || (value == 0.0 && mantissa != 0)))
}

/// C's `%.{precision}g`, with glibc's signed `nan`.
pub(crate) fn format_g(value: f64, precision: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    if value == value.trunc() && value.abs() < 1e14 && precision >= 14 {
        // The usual case by far. Zero goes on, for its sign.
        if value != 0.0 {
            return (value as i64).to_string();
        }
    }
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= precision as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim_zeros(mantissa), exponent.abs())
    } else {
        let decimals = (precision as i32 - 1 - exponent) as usize;
        trim_zeros(&format!("{value:.decimals$}")).to_owned()
    }
}

fn trim_zeros(digits: &str) -> &str {
    if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    }
}

/// Redis 7.2's text of a double: an integer where it is one, otherwise the shortest digits that
/// read back, laid out by the rules of the `fpconv` library.
pub(crate) fn format_shortest(value: f64) -> String {
    const LARGEST_AS_INTEGER: f64 = (i64::MAX / 2) as f64;
    if !value.is_finite() || value == 0.0 {
        return format_g(value, 17);
    }
    if value == value.trunc() && value.abs() <= LARGEST_AS_INTEGER {
        return (value as i64).to_string();
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let count = digits.len() as i32;
    let zeros = exponent - count + 1;
    if zeros >= 0 && exponent < count + 7 {
        format!("{sign}{digits}{}", "0".repeat(zeros as usize))
    } else if zeros < 0 && (zeros > -7 || exponent.abs() < 4) {
        if exponent < 0 {
            format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize))
        } else {
            let (whole, fraction) = digits.split_at(exponent as usize + 1);
            format!("{sign}{whole}.{fraction}")
        }
    } else {
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let direction = if exponent < 0 { '-' } else { '+' };
        format!("{sign}{first}{point}{rest}e{direction}{}", exponent.abs())
    }
}

/// C's conversion of a double to a 64-bit integer on x86-64, which scripts can see: everything
/// that does not fit is the smallest integer. (`as` would saturate, and make 0 of NaN.)
pub(crate) fn truncate_like_x86(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if value >= -LIMIT && value < LIMIT {
        value as i64
    } else {
        i64::MIN
    }
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
            "", " 1", "1 ", "nan", "abc", "(1", "1e400", "-1e400", "1e-400", "0x", "1e", ".", "+",
            "1\0", "0x1p99999",
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

    #[test]
    fn seventeen_and_fourteen_digits_are_those_of_c() {
        for (value, text17, text14) in [
            (0.1, "0.10000000000000001", "0.1"),
            (3.14, "3.1400000000000001", "3.14"),
            (-0.0, "-0", "-0"),
            (1e14, "100000000000000", "1e+14"),
            (1e16, "10000000000000000", "1e+16"),
            (1e17, "1e+17", "1e+17"),
            (1e23, "9.9999999999999992e+22", "1e+23"),
            (123456789012345.0, "123456789012345", "1.2345678901234e+14"),
            (1700000000123000.0, "1700000000123000", "1.700000000123e+15"),
            (1e-5, "1.0000000000000001e-05", "1e-05"),
            (0.0001, "0.0001", "0.0001"),
            (5e-324, "4.9406564584124654e-324", "4.9406564584125e-324"),
            (f64::NAN, "nan", "nan"),
            (-f64::NAN, "-nan", "-nan"),
            (f64::NEG_INFINITY, "-inf", "-inf"),
        ] {
            assert_eq!(format_g(value, 17), text17);
            assert_eq!(format_g(value, 14), text14);
        }
        assert_eq!(format_g(1.0 / 3.0, 3), "0.333");
        assert_eq!(format_g(12345.0, 3), "1.23e+04");
    }

    #[test]
    fn shortest_text_follows_fpconv() {
        for (value, text) in [
            (0.1, "0.1"),
            (-1.5, "-1.5"),
            (1700000000123.25, "1700000000123.25"),
            (1e17, "100000000000000000"),
            (1e20, "1e+20"),
            (1.5e300, "1.5e+300"),
            (1e-7, "1e-7"),
            (0.000123, "0.000123"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(format_shortest(value), text);
        }
    }

    #[test]
    fn out_of_range_doubles_become_the_smallest_integer() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2_f64.powi(63), -1e300] {
            assert_eq!(truncate_like_x86(value), i64::MIN);
        }
        assert_eq!(truncate_like_x86(-3.99), -3);
        assert_eq!(truncate_like_x86(2_f64.powi(53)), 1 << 53);
    }
}
