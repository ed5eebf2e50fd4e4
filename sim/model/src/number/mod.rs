//! Numbers as Redis, C and Lua read and write them.
//!
//! Three formats matter and must not be mixed up: `%.17g` (arguments from scripts and scores of
//! 7.0), `%.14g` (Lua's own `tostring`, JSON) and the shortest text that reads back (7.2). Two
//! commands calculate in C's `long double` and have its digits.

mod big_integer;
mod long_double;
mod read;
mod write;

pub(crate) use long_double::LongDouble;
pub(crate) use read::{is_space, parse_integer, parse_score, strtod};
pub(crate) use write::{format_g, format_shortest};

/// C's conversion of a double to a 64-bit integer on x86-64, which scripts can see: everything
/// that does not fit is the smallest integer. (`as` would saturate, and make 0 of NaN.)
pub(crate) fn truncate_like_x86(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) {
        value as i64
    } else {
        i64::MIN
    }
}

/// As [`truncate_like_x86`], to a 32-bit integer.
pub(crate) fn to_int_like_x86(value: f64) -> i32 {
    i32::try_from(truncate_like_x86(value)).unwrap_or(i32::MIN)
}

#[cfg(test)]
mod tests {
    use super::truncate_like_x86;

    #[test]
    fn out_of_range_doubles_become_the_smallest_integer() {
        for value in [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            2_f64.powi(63),
            -1e300,
        ] {
            assert_eq!(truncate_like_x86(value), i64::MIN);
        }
        assert_eq!(truncate_like_x86(-3.99), -3);
        assert_eq!(truncate_like_x86(2_f64.powi(53)), 1 << 53);
    }
}
