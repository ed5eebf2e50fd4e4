//! A string value.

use std::ops::Deref;

use crate::number;
use crate::refusal::Refusal;

/// The bytes of a string, and what Redis remembers of how they came about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Text {
    bytes: Vec<u8>,
    origin: Origin,
}

#[derive(Debug, Clone, Copy, Default)]
enum Origin {
    /// Given as a whole, which makes an integer of what reads as one.
    #[default]
    Given,
    /// Written by a command that adds floats, which leaves an integer a text.
    Written,
    /// Changed in place.
    Edited,
}

/// The longest text that Redis keeps in one piece with what it knows of the value.
const LONGEST_EMBEDDED: usize = 44;

/// The longest string that Redis allows.
const LONGEST: usize = 512 * 1024 * 1024;

/// Refuses to make a string too long.
pub(crate) fn check_length(length: usize) -> Result<(), Refusal> {
    match length > LONGEST {
        true => Err(Refusal::Text(
            "ERR string exceeds maximum allowed size (proto-max-bulk-len)",
        )),
        false => Ok(()),
    }
}

impl Text {
    /// A text that a command made, and that is no integer whatever it reads as.
    pub(crate) fn written(bytes: Vec<u8>) -> Self {
        Text {
            bytes,
            origin: Origin::Written,
        }
    }

    /// A text that a command put together from others.
    pub(crate) fn edited(bytes: Vec<u8>) -> Self {
        Text {
            bytes,
            origin: Origin::Edited,
        }
    }

    /// The bytes, to be changed in place.
    pub(crate) fn edit(&mut self) -> &mut Vec<u8> {
        self.origin = Origin::Edited;
        &mut self.bytes
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.bytes.clone()
    }

    /// The word that `OBJECT ENCODING` answers.
    pub(crate) fn encoding(&self) -> &'static str {
        match self.origin {
            Origin::Given if number::parse_integer(&self.bytes).is_some() => "int",
            Origin::Given | Origin::Written if self.len() <= LONGEST_EMBEDDED => "embstr",
            _ => "raw",
        }
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Text {
            bytes,
            origin: Origin::Given,
        }
    }
}

impl From<&[u8]> for Text {
    fn from(bytes: &[u8]) -> Self {
        Text::from(bytes.to_vec())
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn encodings() {
        for (text, encoding) in [
            ("", "embstr"),
            ("12", "int"),
            ("-9223372036854775808", "int"),
            ("9223372036854775808", "embstr"),
            ("012", "embstr"),
            (&"x".repeat(44), "embstr"),
            (&"x".repeat(45), "raw"),
        ] {
            assert_eq!(Text::from(text.as_bytes()).encoding(), encoding, "{text}");
        }
        let mut text = Text::written(b"12".to_vec());
        assert_eq!(text.encoding(), "embstr");
        text.edit().push(b'3');
        assert_eq!((text.encoding(), &*text), ("raw", &b"123"[..]));
        assert_eq!(Text::edited(b"12".to_vec()).encoding(), "raw");
    }
}
