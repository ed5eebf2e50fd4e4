//! Numbers as 32 bits, for `bit`.

/// The 32 bits of a number: it is rounded to an integer, to the even one in the middle, and what
/// lies above is left out. Adding this constant leaves the integer in the lower bits of the
/// double, which also says what comes of numbers that are too large for that.
pub(super) fn of(value: f64) -> u32 {
    const MAGIC: f64 = 6_755_399_441_055_744.0;
    (value + MAGIC).to_bits() as u32
}

/// The eight hexadecimal digits of 32 bits.
pub(super) fn hex(value: u32, upper_case: bool) -> [u8; 8] {
    let digits = match upper_case {
        true => b"0123456789ABCDEF",
        false => b"0123456789abcdef",
    };
    std::array::from_fn(|index| {
        let digit = value >> (4 * (7 - index)) & 15;
        digits[digit as usize]
    })
}

#[cfg(test)]
mod tests {
    use super::{hex, of};

    #[test]
    fn numbers() {
        for (value, bits) in [
            (1.5, 2),
            (2.5, 2),
            (-0.5, 0),
            (-1.5, -2),
            (2_f64.powi(31), i32::MIN),
            (2_f64.powi(32) + 5.0, 5),
            (1e16, 937_459_712),
            (1e300, -2_013_235_812),
            (f64::INFINITY, 0),
            (f64::NAN, 0),
        ] {
            assert_eq!(of(value) as i32, bits, "{value}");
        }
    }

    #[test]
    fn digits() {
        assert_eq!(&hex(0x0123_cdef, false), b"0123cdef");
        assert_eq!(&hex(0x0123_cdef, true), b"0123CDEF");
    }
}
