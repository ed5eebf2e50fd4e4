//! One item of a pattern: a byte, a class or a set.

use super::Fault;

/// Where an item of a pattern starts, and where it ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    start: usize,
    pub(super) end: usize,
}

impl Item {
    /// The item at a place before the pattern's end.
    pub(super) fn parse(pattern: &[u8], start: usize) -> Result<Self, Fault> {
        let end = match pattern.get(start) {
            Some(b'%') => match pattern.len() > start + 1 {
                true => start + 2,
                false => return Err(Fault::Malformed("malformed pattern (ends with '%')")),
            },
            Some(b'[') => set_end(pattern, start + 1)?,
            _ => start + 1,
        };
        Ok(Item { start, end })
    }

    /// Whether a byte is of this kind.
    pub(super) fn matches(self, pattern: &[u8], byte: u8) -> bool {
        match &pattern[self.start..self.end] {
            [b'.'] => true,
            [b'%', class] => is_of_class(byte, *class),
            [b'[', b'^', set @ .., b']'] => !is_in_set(byte, set),
            [b'[', set @ .., b']'] => is_in_set(byte, set),
            [one, ..] => *one == byte,
            [] => false,
        }
    }
}

/// Where the set that began before `index` ends. The first byte in it may be a bracket.
fn set_end(pattern: &[u8], mut index: usize) -> Result<usize, Fault> {
    if pattern.get(index) == Some(&b'^') {
        index += 1;
    }
    loop {
        match pattern.get(index) {
            None => return Err(Fault::Malformed("malformed pattern (missing ']')")),
            Some(b'%') if index + 1 < pattern.len() => index += 2,
            Some(_) => index += 1,
        }
        if pattern.get(index) == Some(&b']') {
            return Ok(index + 1);
        }
    }
}

fn is_in_set(byte: u8, mut set: &[u8]) -> bool {
    loop {
        set = match *set {
            [] => return false,
            [b'%', class, ref rest @ ..] => match is_of_class(byte, class) {
                true => return true,
                false => rest,
            },
            [low, b'-', high, ref rest @ ..] => match (low..=high).contains(&byte) {
                true => return true,
                false => rest,
            },
            [one, ref rest @ ..] => match one == byte {
                true => return true,
                false => rest,
            },
        };
    }
}

/// A letter stands for a class, in upper case for all but the class, and anything else for
/// itself.
fn is_of_class(byte: u8, class: u8) -> bool {
    let found = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => matches!(byte, b' ' | b'\t'..=b'\r'),
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return class == byte,
    };
    found != class.is_ascii_uppercase()
}
