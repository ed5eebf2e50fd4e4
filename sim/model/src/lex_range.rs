//! Ranges of members by their bytes: `ZRANGEBYLEX`.

use crate::refusal::Refusal;

/// One end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End<'a> {
    Lowest,
    Highest,
    Including(&'a [u8]),
    Excluding(&'a [u8]),
}

/// The members from `min` to `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LexRange<'a> {
    min: End<'a>,
    max: End<'a>,
}

impl<'a> LexRange<'a> {
    /// Reads `-`, `+`, `[member` and `(member`.
    pub(crate) fn parse(min: &'a [u8], max: &'a [u8]) -> Result<Self, Refusal> {
        Ok(LexRange {
            min: end(min)?,
            max: end(max)?,
        })
    }

    /// Whether no member can lie between the two ends.
    pub(crate) fn is_empty(&self) -> bool {
        match (self.min, self.max) {
            (End::Including(min), End::Including(max)) => min > max,
            (
                End::Including(min) | End::Excluding(min),
                End::Including(max) | End::Excluding(max),
            ) => min >= max,
            _ => false,
        }
    }

    pub(crate) fn is_above_min(&self, member: &[u8]) -> bool {
        match self.min {
            End::Lowest => true,
            End::Highest => false,
            End::Including(min) => member >= min,
            End::Excluding(min) => member > min,
        }
    }

    pub(crate) fn is_below_max(&self, member: &[u8]) -> bool {
        match self.max {
            End::Lowest => false,
            End::Highest => true,
            End::Including(max) => member <= max,
            End::Excluding(max) => member < max,
        }
    }
}

fn end(text: &[u8]) -> Result<End<'_>, Refusal> {
    match text {
        // The sign is a C string there: a NUL ends it.
        [b'-'] | [b'-', 0, ..] => Ok(End::Lowest),
        [b'+'] | [b'+', 0, ..] => Ok(End::Highest),
        [b'[', member @ ..] => Ok(End::Including(member)),
        [b'(', member @ ..] => Ok(End::Excluding(member)),
        _ => Err(Refusal::Text("ERR min or max not valid string range item")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_read_strictly() {
        for bad in [&b""[..], b"a", b"--", b"+a", b" -"] {
            assert!(LexRange::parse(bad, b"+").is_err());
            assert!(LexRange::parse(b"-", bad).is_err());
        }
    }

    #[test]
    fn members_are_compared_by_bytes() {
        let within = |min: &'static str, max: &'static str, member: &str| {
            let range = LexRange::parse(min.as_bytes(), max.as_bytes()).unwrap();
            range.is_above_min(member.as_bytes()) && range.is_below_max(member.as_bytes())
        };
        assert!(within("-", "+", ""));
        assert!(within("[a", "[a", "a"));
        assert!(!within("(a", "+", "a"));
        assert!(within("(a", "+", "aa"));
        assert!(!within("-", "(b", "b"));
        assert!(!within("+", "-", "b"));
        assert!(within("[", "[", ""));
    }

    #[test]
    fn some_ranges_hold_nothing() {
        for (min, max, empty) in [
            ("[a", "[a", false),
            ("(a", "[a", true),
            ("[a", "(a", true),
            ("[b", "[a", true),
            ("-", "(", false),
            ("+", "-", false),
        ] {
            let range = LexRange::parse(min.as_bytes(), max.as_bytes()).unwrap();
            assert_eq!(range.is_empty(), empty, "{min} {max}");
        }
    }
}
