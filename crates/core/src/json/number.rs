//! Numbers as Python writes them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The most digits of an integer: what Python reads and writes by default.
const MAX_DIGITS: usize = 4_300;

/// Exponents for which Python writes a number without one.
const PLAIN: core::ops::Range<i32> = -4..16;

/// Appends a JSON number. The error says why it cannot be one, and what to do.
pub(super) fn write(out: &mut Vec<u8>, json: &str) -> Result<(), String> {
    if !json.contains(['.', 'e', 'E']) {
        return write_integer(out, json);
    }
    match json.parse::<f64>() {
        Ok(number) if number.is_finite() => {
            write_float(out, number);
            Ok(())
        }
        _ => Err("is beyond the largest double; publish it as a string".into()),
    }
}

fn write_integer(out: &mut Vec<u8>, json: &str) -> Result<(), String> {
    let digits = json.trim_start_matches('-').len();
    if digits > MAX_DIGITS {
        return Err(format!(
            "has {digits} digits, of which Python reads {MAX_DIGITS} at most; publish it as a string"
        ));
    }
    // An integer has no negative zero.
    let json = if json == "-0" { "0" } else { json };
    out.extend_from_slice(json.as_bytes());
    Ok(())
}

fn write_float(out: &mut Vec<u8>, number: f64) {
    if number.is_sign_negative() {
        out.push(b'-');
    }
    let (digits, exponent) = shortest(number.abs());
    if !PLAIN.contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let (first, rest) = digits.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        let text = format!("{first}{point}{rest}e{sign}{:02}", exponent.unsigned_abs());
        out.extend_from_slice(text.as_bytes());
        return;
    }
    let before = usize::try_from(exponent + 1).unwrap_or_default();
    let zeros = exponent.min(-1).abs_diff(-1) as usize;
    let (whole, fraction) = digits.split_at(before.min(digits.len()));
    let whole = if whole.is_empty() { "0" } else { whole };
    out.extend_from_slice(whole.as_bytes());
    out.resize(out.len() + before.saturating_sub(digits.len()), b'0');
    out.push(b'.');
    out.resize(out.len() + zeros, b'0');
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    out.extend_from_slice(fraction.as_bytes());
}

/// The shortest digits that mean this double, and the exponent of the first one. Of two that are
/// equally near the even one, as in Python; `core` takes the larger.
fn shortest(number: f64) -> (String, i32) {
    // A finite number can be written.
    let text = serde_json::to_string(&number).unwrap_or_default();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = [whole, fraction].concat();
    let leading = all.len() - all.trim_start_matches('0').len();
    let digits = all.trim_matches('0');
    if digits.is_empty() {
        return ("0".into(), 0);
    }
    let before = i32::try_from(whole.len()).unwrap_or_default() - 1;
    let skipped = i32::try_from(leading).unwrap_or_default();
    (digits.into(), exponent + before - skipped)
}
