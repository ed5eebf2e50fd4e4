//! The bytes of MessagePack, as lua-cmsgpack 0.4.0 writes and reads them.

/// Appends an integer in as few bytes as there are.
pub(super) fn write_integer(out: &mut Vec<u8>, value: i64) {
    let bytes = value.to_be_bytes();
    let (sign, length): (u8, usize) = match value {
        -32..=127 => (0, 1),
        128..=0xff => (0xcc, 1),
        0x100..=0xffff => (0xcd, 2),
        0x1_0000..=0xffff_ffff => (0xce, 4),
        0x1_0000_0000.. => (0xcf, 8),
        -0x80..=-33 => (0xd0, 1),
        -0x8000..=-0x81 => (0xd1, 2),
        -0x8000_0000..=-0x8001 => (0xd2, 4),
        _ => (0xd3, 8),
    };
    if sign != 0 {
        out.push(sign);
    }
    out.extend_from_slice(&bytes[8 - length..]);
}

/// Appends a number: as an integer if it is one, and in 32 bits if that loses nothing.
pub(super) fn write_number(out: &mut Vec<u8>, value: f64) {
    let integer = crate::number::truncate_like_x86(value);
    if integer as f64 == value {
        write_integer(out, integer);
    } else if f64::from(value as f32) == value {
        out.push(0xca);
        out.extend_from_slice(&(value as f32).to_be_bytes());
    } else {
        out.push(0xcb);
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends a string.
pub(super) fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    if text.len() <= 0xff && text.len() > 31 {
        out.extend_from_slice(&[0xd9, text.len() as u8]);
    } else {
        write_length(out, text.len(), (0xa0, 31), 0xda);
    }
    out.extend_from_slice(text);
}

pub(super) fn write_array(out: &mut Vec<u8>, length: usize) {
    write_length(out, length, (0x90, 15), 0xdc);
}

pub(super) fn write_map(out: &mut Vec<u8>, length: usize) {
    write_length(out, length, (0x80, 15), 0xde);
}

pub(super) fn write_boolean(out: &mut Vec<u8>, yes: bool) {
    out.push(if yes { 0xc3 } else { 0xc2 });
}

pub(super) fn write_nil(out: &mut Vec<u8>) {
    out.push(0xc0);
}

/// Appends a length: in the first byte if it is small, or after a sign in 16 bits, or after the
/// next sign in 32.
fn write_length(out: &mut Vec<u8>, length: usize, (small, most): (u8, usize), sign: u8) {
    match length {
        length if length <= most => out.push(small | length as u8),
        length if length <= 0xffff => {
            out.push(sign);
            out.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            out.push(sign + 1);
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
}

/// One value of a text, or the beginning of one that has others in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Item<'a> {
    Nil,
    Boolean(bool),
    Number(f64),
    Text(&'a [u8]),
    Array(usize),
    Map(usize),
}

/// Why there is no next value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    End,
    Format,
}

/// Reads values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes }
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Fault::End)?;
        self.rest = rest;
        Ok(taken)
    }

    fn integer(&mut self, length: usize) -> Result<u64, Fault> {
        let bytes = self.take(length)?;
        Ok(bytes
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte)))
    }

    fn length(&mut self, bytes: usize) -> Result<usize, Fault> {
        self.integer(bytes).map(|length| length as usize)
    }

    pub(super) fn next(&mut self) -> Result<Item<'a>, Fault> {
        let sign = self.take(1)?[0];
        Ok(match sign {
            0x00..=0x7f => Item::Number(sign.into()),
            0x80..=0x8f => Item::Map((sign & 15).into()),
            0x90..=0x9f => Item::Array((sign & 15).into()),
            0xa0..=0xbf => Item::Text(self.take((sign & 31).into())?),
            0xc0 => Item::Nil,
            0xc2 | 0xc3 => Item::Boolean(sign == 0xc3),
            0xca => Item::Number(f32::from_bits(self.integer(4)? as u32).into()),
            0xcb => Item::Number(f64::from_bits(self.integer(8)?)),
            0xcc => Item::Number(self.integer(1)? as f64),
            0xcd => Item::Number(self.integer(2)? as f64),
            0xce => Item::Number(self.integer(4)? as f64),
            // The largest ones come out negative, as they do in Redis.
            0xcf | 0xd3 => Item::Number(self.integer(8)? as i64 as f64),
            0xd0 => Item::Number((self.integer(1)? as i8).into()),
            0xd1 => Item::Number((self.integer(2)? as i16).into()),
            0xd2 => Item::Number((self.integer(4)? as i32).into()),
            0xd9..=0xdb => {
                let length = self.length(1 << (sign - 0xd9))?;
                Item::Text(self.take(length)?)
            }
            0xdc | 0xdd => Item::Array(self.length(2 << (sign - 0xdc))?),
            0xde | 0xdf => Item::Map(self.length(2 << (sign - 0xde))?),
            0xe0..=0xff => Item::Number((sign as i8).into()),
            0xc1 | 0xc4..=0xc9 | 0xd4..=0xd8 => return Err(Fault::Format),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (value, bytes) in [
            (0.0, &b"\x00"[..]),
            (-0.0, b"\x00"),
            (127.0, b"\x7f"),
            (128.0, b"\xcc\x80"),
            (300.0, b"\xcd\x01\x2c"),
            (70_000.0, b"\xce\x00\x01\x11\x70"),
            (4_294_967_296.0, b"\xcf\x00\x00\x00\x01\x00\x00\x00\x00"),
            (-32.0, b"\xe0"),
            (-33.0, b"\xd0\xdf"),
            (-129.0, b"\xd1\xff\x7f"),
            (-40_000.0, b"\xd2\xff\xff\x63\xc0"),
            (-2_147_483_649.0, b"\xd3\xff\xff\xff\xff\x7f\xff\xff\xff"),
            (1.5, b"\xca\x3f\xc0\x00\x00"),
            (0.1, b"\xcb\x3f\xb9\x99\x99\x99\x99\x99\x9a"),
            (2_f64.powi(63), b"\xca\x5f\x00\x00\x00"),
            (f64::INFINITY, b"\xca\x7f\x80\x00\x00"),
        ] {
            let mut out = Vec::new();
            write_number(&mut out, value);
            assert_eq!(out, bytes, "{value}");
            assert_eq!(Reader::new(&out).next(), Ok(Item::Number(value)), "{value}");
        }
    }

    #[test]
    fn lengths() {
        for (length, start) in [
            (31, &b"\xbfx"[..]),
            (32, b"\xd9\x20x"),
            (256, b"\xda\x01\x00x"),
            (65_536, b"\xdb\x00\x01\x00\x00x"),
        ] {
            let (mut out, text) = (Vec::new(), vec![b'x'; length]);
            write_text(&mut out, &text);
            assert!(out.starts_with(start), "{length}");
            assert_eq!(Reader::new(&out).next(), Ok(Item::Text(&text)));
        }
        for (length, array, map) in [
            (15, &b"\x9f"[..], &b"\x8f"[..]),
            (16, b"\xdc\x00\x10", b"\xde\x00\x10"),
            (65_536, b"\xdd\x00\x01\x00\x00", b"\xdf\x00\x01\x00\x00"),
        ] {
            let (mut one, mut two) = (Vec::new(), Vec::new());
            write_array(&mut one, length);
            write_map(&mut two, length);
            assert_eq!((&one[..], &two[..]), (array, map));
            assert_eq!(Reader::new(&one).next(), Ok(Item::Array(length)));
            assert_eq!(Reader::new(&two).next(), Ok(Item::Map(length)));
        }
    }

    #[test]
    fn broken_texts() {
        for (text, fault) in [
            (&b""[..], Fault::End),
            (b"\xcc", Fault::End),
            (b"\xa1", Fault::End),
            (b"\xdb\xff\xff\xff\xff", Fault::End),
            (b"\xc1", Fault::Format),
            (b"\xc4\x01a", Fault::Format),
            (b"\xd4\x01a", Fault::Format),
        ] {
            assert_eq!(Reader::new(text).next(), Err(fault), "{text:?}");
        }
    }
}
