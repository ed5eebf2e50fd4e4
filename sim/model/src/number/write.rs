//! Numbers into texts.

/// C's `%.{precision}g`, with glibc's signed `nan`.
pub(crate) fn format_g(value: f64, precision: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() {
            "-nan"
        } else {
            "nan"
        }
        .to_owned();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventeen_and_fourteen_digits_are_those_of_c() {
        for (value, text17, text14) in [
            (0.1, "0.10000000000000001", "0.1"),
            (2.2, "2.2000000000000002", "2.2"),
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
}
