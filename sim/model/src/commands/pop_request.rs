//! What `LMPOP`, `ZMPOP` and their blocking forms are called with.

use crate::arguments::is;
use crate::number;
use crate::refusal::Refusal;

/// Take up to `count` elements from one end of the first of the keys that has any.
#[derive(Debug, Clone, Copy)]
pub(super) struct PopRequest<'a, End> {
    pub(super) keys: &'a [&'a [u8]],
    pub(super) end: End,
    pub(super) count: usize,
}

impl<'a, End> PopRequest<'a, End> {
    /// Reads the number of keys, the keys, which end, and `COUNT`.
    pub(super) fn parse(
        words: &'a [&'a [u8]],
        end: impl FnOnce(&[u8]) -> Result<End, Refusal>,
    ) -> Result<Self, Refusal> {
        let number_of_keys = positive(words[0], "ERR numkeys should be greater than 0")?;
        let (keys, rest) = words[1..]
            .split_at_checked(number_of_keys)
            .ok_or(Refusal::Syntax)?;
        let (which, options) = rest.split_first().ok_or(Refusal::Syntax)?;
        let end = end(which)?;
        let count = match options {
            [] => 1,
            [word, count, rest @ ..] if is(word, "count") => {
                let count = positive(count, "ERR count should be greater than 0")?;
                match rest {
                    [] => count,
                    _ => return Err(Refusal::Syntax),
                }
            }
            _ => return Err(Refusal::Syntax),
        };
        Ok(PopRequest { keys, end, count })
    }
}

fn positive(text: &[u8], otherwise: &'static str) -> Result<usize, Refusal> {
    number::parse_integer(text)
        .filter(|number| *number > 0)
        .and_then(|number| usize::try_from(number).ok())
        .ok_or(Refusal::Text(otherwise))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::Refusal;

    #[test]
    fn numbers_are_checked_in_order() {
        let parse = |words: &str| {
            let words: Vec<&[u8]> = words.split(' ').map(str::as_bytes).collect();
            let request = PopRequest::parse(&words, |word| match is(word, "left") {
                true => Ok(()),
                false => Err(Refusal::Syntax),
            });
            request.map(|request| (request.keys.len(), request.count))
        };
        assert_eq!(parse("2 a b LEFT"), Ok((2, 1)));
        assert_eq!(parse("1 a left count 5"), Ok((1, 5)));
        let no_keys = Refusal::Text("ERR numkeys should be greater than 0");
        let no_count = Refusal::Text("ERR count should be greater than 0");
        for (words, refusal) in [
            ("0 a UP", no_keys.clone()),
            ("x a LEFT", no_keys),
            ("2 a LEFT", Refusal::Syntax),
            ("9223372036854775807 a LEFT", Refusal::Syntax),
            ("1 a UP COUNT 0", Refusal::Syntax),
            ("1 a LEFT COUNT 0", no_count.clone()),
            ("1 a LEFT COUNT 9223372036854775808", no_count),
            ("1 a LEFT COUNT", Refusal::Syntax),
            ("1 a LEFT COUNT 1 COUNT 1", Refusal::Syntax),
        ] {
            assert_eq!(parse(words), Err(refusal), "{words}");
        }
    }
}
