//! What `LMPOP`, `ZMPOP` and their blocking forms are called with.

use crate::arguments::{is, positive};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

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

/// What popping from one key answers, if there is something to pop.
type Popped = Result<Option<Reply>, Refusal>;

/// Pops from the first of the keys that has something.
pub(super) fn pop_first(
    state: &mut State,
    keys: &[&[u8]],
    mut pop: impl FnMut(&mut State, &[u8]) -> Popped,
) -> Popped {
    for key in keys {
        if let Some(reply) = pop(state, key)? {
            return Ok(Some(reply));
        }
    }
    Ok(None)
}

/// As [`pop_first`], or waits for one of the keys. `call` is the whole call.
pub(super) fn pop_or_wait(
    state: &mut State,
    keys: &[&[u8]],
    timeout: &[u8],
    call: &[&[u8]],
    pop: impl FnMut(&mut State, &[u8]) -> Popped,
) -> Answer {
    let deadline = state.deadline_of_seconds(timeout)?;
    match pop_first(state, keys, pop)? {
        Some(reply) => Ok(reply),
        None => state.wait_or(Reply::NilArray, keys, deadline, call),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
