//! The format strings of `struct`: which bytes a value takes, and where they lie.

/// The widest integer.
const MAX_INTEGER: i32 = 32;

/// How `!` without a number aligns, as C does on 64-bit machines.
const NATIVE_ALIGNMENT: i32 = 8;

/// Why a format is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// A number with too many digits.
    Overflow,
    TooWide(i32),
    /// An alignment that is not a power of two.
    Alignment(i32),
    Unknown(u8),
}

/// One letter of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) letter: u8,
    /// In bytes; 0 if the value decides.
    pub(super) size: usize,
}

/// Reads a format, up to its first NUL, where C stops.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout<'a> {
    rest: &'a [u8],
    pub(super) big_endian: bool,
    alignment: usize,
}

impl<'a> Layout<'a> {
    pub(super) fn new(format: &'a [u8]) -> Self {
        Layout {
            rest: format.split(|byte| *byte == 0).next().unwrap_or_default(),
            big_endian: false,
            alignment: 1,
        }
    }

    pub(super) fn next(&mut self) -> Result<Option<Item>, Fault> {
        let Some((&letter, rest)) = self.rest.split_first() else {
            return Ok(None);
        };
        self.rest = rest;
        let size = match letter {
            b'b' | b'B' | b'x' => 1,
            b'h' | b'H' => 2,
            b'f' => 4,
            b'l' | b'L' | b'T' | b'd' => 8,
            b'c' => self.number(1)?,
            b'i' | b'I' => match self.number(4)? {
                size @ ..=MAX_INTEGER => size,
                size => return Err(Fault::TooWide(size)),
            },
            _ => 0,
        };
        let size = usize::try_from(size).unwrap_or(0);
        Ok(Some(Item { letter, size }))
    }

    /// The number that comes next, if any.
    fn number(&mut self, otherwise: i32) -> Result<i32, Fault> {
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit());
        let count = digits.count();
        if count == 0 {
            return Ok(otherwise);
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        let number = digits.iter().try_fold(0_i32, |number, digit| {
            number.checked_mul(10)?.checked_add((digit - b'0').into())
        });
        number.ok_or(Fault::Overflow)
    }

    /// How many bytes to leave free before an item that would start here.
    pub(super) fn padding(&self, position: usize, item: Item) -> usize {
        if item.size == 0 || item.letter == b'c' {
            return 0;
        }
        // For sizes that are no powers of two this makes no sense, and is what `struct` does.
        let size = item.size.min(self.alignment);
        (size - (position & (size - 1))) & (size - 1)
    }

    /// Follows a letter that has no value.
    pub(super) fn control(&mut self, letter: u8) -> Result<(), Fault> {
        match letter {
            b' ' => {}
            b'<' => self.big_endian = false,
            b'>' => self.big_endian = true,
            b'!' => {
                let alignment = self.number(NATIVE_ALIGNMENT)?;
                match usize::try_from(alignment) {
                    Ok(power) if power.is_power_of_two() => self.alignment = power,
                    _ => return Err(Fault::Alignment(alignment)),
                }
            }
            other => return Err(Fault::Unknown(other)),
        }
        Ok(())
    }
}

/// C's conversion of a double to a 64-bit integer on x86-64, signed if it is negative.
pub(super) fn to_bits(value: f64) -> u64 {
    use crate::number::truncate_like_x86 as truncate;
    const HALF: f64 = 9_223_372_036_854_775_808.0;
    match value >= HALF {
        true => truncate(value - HALF) as u64 ^ 1 << 63,
        false => truncate(value) as u64,
    }
}

/// The bytes of an integer in a place of this size, in `out` from the start.
pub(super) fn write_integer(out: &mut [u8], value: u64, big_endian: bool) {
    let low = value.to_le_bytes();
    for (index, byte) in out.iter_mut().enumerate() {
        *byte = low.get(index).copied().unwrap_or(0);
    }
    if big_endian {
        out.reverse();
    }
}

/// The integer in these bytes. Only the lower 64 bits count.
pub(super) fn read_integer(bytes: &[u8], big_endian: bool, signed: bool) -> f64 {
    let push = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    let value = match big_endian {
        true => bytes.iter().fold(0, push),
        false => bytes.iter().rev().fold(0, push),
    };
    if !signed {
        return value as f64;
    }
    // The processor takes the shift modulo 64, which shows for integers of more than 8 bytes.
    let shift = (bytes.len() as u32).wrapping_mul(8).wrapping_sub(1);
    let sign = u64::MAX.wrapping_shl(shift);
    let value = match value & sign {
        0 => value,
        _ => value | sign,
    };
    value as i64 as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers() {
        let mut out = [0; 3];
        write_integer(&mut out, to_bits(-2.0), true);
        assert_eq!(out, [255, 255, 254]);
        assert_eq!(read_integer(&out, true, true), -2.0);
        assert_eq!(read_integer(&out, true, false), 16_777_214.0);
        let mut wide = [9; 10];
        write_integer(&mut wide, to_bits(-1.0), false);
        assert_eq!(wide, [255, 255, 255, 255, 255, 255, 255, 255, 0, 0]);
        for (value, bits) in [
            (f64::INFINITY, 0),
            (f64::NAN, 1 << 63),
            (2_f64.powi(63), 1 << 63),
            (2_f64.powi(64), 0),
        ] {
            assert_eq!(to_bits(value), bits, "{value}");
        }
    }

    #[test]
    fn formats() {
        let mut layout = Layout::new(b"!4 bi3\0q");
        let mut sizes = Vec::new();
        while let Ok(Some(item)) = layout.next() {
            sizes.push((item.letter, item.size, layout.padding(1, item)));
            if !item.letter.is_ascii_alphanumeric() {
                assert_eq!(layout.control(item.letter), Ok(()));
            }
        }
        assert_eq!(
            sizes,
            [(b'!', 0, 0), (b' ', 0, 0), (b'b', 1, 0), (b'i', 3, 2)]
        );
        assert_eq!(Layout::new(b"i33").next(), Err(Fault::TooWide(33)));
        assert_eq!(Layout::new(b"c2147483648").next(), Err(Fault::Overflow));
        let mut layout = Layout::new(b"3");
        assert_eq!(layout.control(b'!'), Err(Fault::Alignment(3)));
        assert_eq!(layout.control(b'q'), Err(Fault::Unknown(b'q')));
    }
}
