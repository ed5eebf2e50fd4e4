//! C's `long double` on x86-64, in which Redis adds to `INCRBYFLOAT`'s and `HINCRBYFLOAT`'s values.

use super::big_integer::BigInteger;
use super::read::{is_space, strtod};

/// A number with 64 bits of precision, or an infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LongDouble {
    negative: bool,
    size: Size,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    /// `mantissa * 2^exponent`.
    Finite {
        mantissa: u64,
        exponent: i32,
    },
    Infinite,
}

const ZERO: Size = Size::Finite {
    mantissa: 0,
    exponent: 0,
};
/// The exponent of the smallest number above zero.
const LOWEST_EXPONENT: i32 = -16_445;
/// The exponent of the largest numbers, whose mantissas have all their bits.
const HIGHEST_EXPONENT: i32 = 16_320;
/// The length from which a text is no number for Redis.
const LONGEST_TEXT: usize = 5 * 1024;
/// Where numbers end that have so many digits before the point, or zeros after it.
const MOST_DIGITS: i64 = 5_000;

impl LongDouble {
    pub(crate) const ZERO: Self = LongDouble {
        negative: false,
        size: ZERO,
    };

    /// A text that is a number as a whole, and in range.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        if text.len() >= LONGEST_TEXT || text.first().is_none_or(|first| is_space(*first)) {
            return None;
        }
        let number = strtod(text); // accepts the same texts
        if number.used != text.len() || number.value.is_nan() {
            return None;
        }
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        let size = match digits {
            [b'i' | b'I', ..] => Some(Size::Infinite),
            [b'0', b'x' | b'X', rest @ ..] => hexadecimal(rest).and_then(in_range),
            _ => decimal(digits).and_then(in_range),
        };
        size.map(|size| LongDouble { negative, size })
    }

    pub(crate) fn is_infinite(self) -> bool {
        self.size == Size::Infinite
    }

    /// The sum, unless it is infinite or no number.
    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        let (
            Size::Finite {
                mantissa: one,
                exponent: one_exponent,
            },
            Size::Finite {
                mantissa: two,
                exponent: two_exponent,
            },
        ) = (self.size, other.size)
        else {
            return None;
        };
        let exponent = one_exponent.min(two_exponent);
        let one = BigInteger::from(one).shifted_left((one_exponent - exponent) as u32);
        let two = BigInteger::from(two).shifted_left((two_exponent - exponent) as u32);
        let (negative, sum) = if self.negative == other.negative {
            (self.negative, one.plus(&two))
        } else if one >= two {
            (self.negative, one.minus(&two))
        } else {
            (other.negative, two.minus(&one))
        };
        match round(&sum, exponent, false) {
            Size::Infinite => None,
            size => Some(LongDouble { negative, size }),
        }
    }
}

impl std::fmt::Display for LongDouble {
    /// As `%.17Lf`, without the zeros at its end.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const DECIMALS: usize = 17;
        let sign = if self.negative { "-" } else { "" };
        let Size::Finite { mantissa, exponent } = self.size else {
            return write!(formatter, "{sign}inf");
        };
        let mut scaled = BigInteger::from(mantissa);
        scaled.multiply_by_power_of_ten(DECIMALS as u32);
        let scaled = match exponent {
            0.. => scaled.shifted_left(exponent.unsigned_abs()),
            _ => scaled.rounded_right(exponent.unsigned_abs(), false),
        };
        let digits = format!("{:0>width$}", scaled.to_decimal(), width = DECIMALS + 1);
        let (whole, fraction) = digits.split_at(digits.len() - DECIMALS);
        match fraction.trim_end_matches('0') {
            "" if whole == "0" => formatter.write_str("0"),
            "" => write!(formatter, "{sign}{whole}"),
            fraction => write!(formatter, "{sign}{whole}.{fraction}"),
        }
    }
}

/// Digits that make an infinity are too many.
fn in_range(size: Size) -> Option<Size> {
    (size != Size::Infinite).then_some(size)
}

/// `integer * 2^exponent` with 64 bits of precision. `more` says that there is a little more.
fn round(integer: &BigInteger, exponent: i32, more: bool) -> Size {
    let surplus = integer.bits() as i32 - 64;
    let shift = surplus.max(LOWEST_EXPONENT - exponent);
    let mut rounded = match shift {
        0.. => integer.rounded_right(shift.unsigned_abs(), more),
        _ => integer.shifted_left(shift.unsigned_abs()),
    };
    let mut exponent = exponent + shift;
    if rounded.bits() > 64 {
        rounded = rounded.rounded_right(1, false);
        exponent += 1;
    }
    match rounded.low() {
        0 => ZERO,
        _ if exponent > HIGHEST_EXPONENT => Size::Infinite,
        mantissa => Size::Finite { mantissa, exponent },
    }
}

/// The digits on both sides of a point, and how many are behind it.
fn digits_of(text: &[u8], base: u32) -> (BigInteger, i64) {
    let mut integer = BigInteger::default();
    let mut decimals = 0;
    let mut seen_point = false;
    for byte in text {
        match char::from(*byte).to_digit(base) {
            Some(digit) => {
                integer.multiply_add(base, digit);
                decimals += i64::from(seen_point);
            }
            None => seen_point = true,
        }
    }
    (integer, decimals)
}

/// The digits of a text and the number after the letter of the exponent.
fn split_exponent(text: &[u8], letter: u8) -> (&[u8], i64) {
    let place = text
        .iter()
        .position(|byte| byte.eq_ignore_ascii_case(&letter));
    let Some(place) = place else {
        return (text, 0);
    };
    let exponent = str::from_utf8(&text[place + 1..]).unwrap_or_default();
    // What does not fit is out of any range.
    const BEYOND: i64 = 1 << 40;
    let number = exponent.parse().unwrap_or(BEYOND);
    let number = match exponent.starts_with('-') {
        true if number > 0 => -BEYOND,
        _ => number.clamp(-BEYOND, BEYOND),
    };
    (&text[..place], number)
}

/// `None` for what is out of range.
fn decimal(text: &[u8]) -> Option<Size> {
    let (digits, exponent) = split_exponent(text, b'e');
    let (mut integer, decimals) = digits_of(digits, 10);
    if integer.is_zero() {
        return Some(ZERO);
    }
    let exponent = exponent - decimals;
    let magnitude = exponent + integer.to_decimal().len() as i64;
    if magnitude.abs() > MOST_DIGITS {
        return None;
    }
    let power = u32::try_from(exponent.unsigned_abs()).ok()?;
    if exponent >= 0 {
        integer.multiply_by_power_of_ten(power);
        return Some(round(&integer, 0, false));
    }
    let mut divisor = BigInteger::from(1);
    divisor.multiply_by_power_of_ten(power);
    // Some bits more than are needed, to see how the last one is to be rounded.
    const QUOTIENT_BITS: u32 = 66;
    let (bits, wanted) = (integer.bits(), divisor.bits() + QUOTIENT_BITS);
    let (missing, surplus) = (wanted.saturating_sub(bits), bits.saturating_sub(wanted));
    let divisor = divisor.shifted_left(surplus);
    let (quotient, more) = integer.shifted_left(missing).divided_by(&divisor);
    unless_lost(round(&quotient, surplus as i32 - missing as i32, more))
}

/// As [`decimal`], after the `0x`.
fn hexadecimal(text: &[u8]) -> Option<Size> {
    const BEYOND: i64 = 100_000;
    let (digits, exponent) = split_exponent(text, b'p');
    let (integer, decimals) = digits_of(digits, 16);
    if integer.is_zero() {
        return Some(ZERO);
    }
    let exponent = (exponent - 4 * decimals).clamp(-BEYOND, BEYOND);
    unless_lost(round(&integer, exponent as i32, false))
}

/// Digits that leave nothing but a zero are too small.
fn unless_lost(size: Size) -> Option<Size> {
    (size != ZERO).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::LongDouble;

    fn sum(one: &str, two: &str) -> Option<String> {
        let one = LongDouble::parse(one.as_bytes())?;
        let sum = one.plus(LongDouble::parse(two.as_bytes())?)?;
        Some(sum.to_string())
    }

    #[test]
    fn sums_have_64_bits() {
        for (one, two, total) in [
            ("0", "1.5", "1.5"),
            ("1.5", "0.1", "1.6"),
            ("1.6", "5.0e3", "5001.60000000000000009"),
            ("0", "-0", "0"),
            ("-1", "1", "0"),
            ("3e-20", "0", "0"),
            ("-3e-20", "0", "0"),
            ("1e20", "0.1", "100000000000000000000"),
            ("1e20", "1e30", "1000000000100000000035918970880"),
            (
                "0",
                "123456789.123456789123456789",
                "123456789.12345678912242875",
            ),
            ("0", "0x10", "16"),
            ("0", "0x1.8p-3", "0.1875"),
            ("0", "3.0e-10", "0.0000000003"),
            ("18446744073709551615", "1", "18446744073709551616"),
            ("18446744073709551615", "2", "18446744073709551616"),
        ] {
            assert_eq!(sum(one, two).as_deref(), Some(total), "{one} + {two}");
        }
    }

    #[test]
    fn the_range_is_that_of_x86() {
        let largest = sum("1.189e4932", "0").expect("a number");
        assert_eq!((largest.len(), &largest[..8]), (4933, "11890000"));
        for text in [
            "1.19e4932",
            "1e5000",
            "1e-5000",
            "1e-4951",
            "1e99999999999999999999",
        ] {
            assert_eq!(LongDouble::parse(text.as_bytes()), None, "{text}");
        }
        for text in ["", " 1", "1 ", "nan", "x", "1\0", "0x", "1e", "."] {
            assert_eq!(LongDouble::parse(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(sum("4e-4951", "0").as_deref(), Some("0"));
        assert_eq!(sum("0e99999999999999999999", "0").as_deref(), Some("0"));
        assert_eq!(sum("inf", "1"), None);
        assert_eq!(sum("1.1e4932", "1.1e4932"), None);
    }

    #[test]
    fn long_texts_are_read_exactly() {
        let digits = "1".repeat(5000);
        let one = LongDouble::parse(format!("0.{digits}").as_bytes());
        assert_eq!(one, LongDouble::parse(format!("{digits}e-5000").as_bytes()));
        assert_eq!(
            sum(&format!("0.{digits}"), "0").as_deref(),
            Some("0.11111111111111111")
        );
        assert_eq!(LongDouble::parse("1".repeat(5120).as_bytes()), None);
    }
}
