//! Lua's patterns, as `string.find` and its kin use them.
//!
//! Lua's own functions try every way to match without ever looking at a limit, and call
//! themselves for each item of a pattern. A short pattern can so run for years, and a long one
//! overflows the stack. Here the ways not tried yet are kept in a list, and steps are counted.

mod attempt;
mod class;
mod plain;

use attempt::Search;
pub(super) use plain::{find_plain, is_plain};

/// How many captures a pattern may have.
const MAX_CAPTURES: usize = 32;

/// How many steps are taken before they are counted.
const STEPS_PER_COUNT: usize = 4096;

/// Why a search ended without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The pattern is wrong, in the words of Lua.
    Malformed(&'static str),
    /// Whoever counts the steps has had enough.
    Stopped,
}

/// What lies between parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Capture {
    pub(super) start: usize,
    pub(super) extent: Extent,
}

/// How far a capture goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Extent {
    #[default]
    Unfinished,
    /// `()`, which captures where it is.
    Position,
    Bytes(usize),
}

/// Where a pattern matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    captures: [Capture; MAX_CAPTURES],
    level: usize,
}

impl Found {
    pub(super) fn captures(&self) -> &[Capture] {
        &self.captures[..self.level]
    }
}

fn until_nul(pattern: &[u8]) -> &[u8] {
    let end = pattern.iter().position(|byte| *byte == 0);
    &pattern[..end.unwrap_or(pattern.len())]
}

/// The first match of `pattern` in `source` that starts at `from` or later, or exactly there if
/// that is wanted. `count` is told of every few thousand steps, and says whether to go on.
pub(super) fn search(
    source: &[u8],
    pattern: &[u8],
    from: usize,
    only_there: bool,
    count: impl FnMut(usize) -> bool,
) -> Result<Option<Found>, Fault> {
    let mut search = Search::new(source, until_nul(pattern), count);
    let mut answer = Ok(None);
    for start in from..=source.len() {
        answer = search.attempt(start);
        if only_there || answer != Ok(None) {
            break;
        }
    }
    search.finish()?;
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, pattern: &str) -> Option<(usize, usize)> {
        let found = search(source.as_bytes(), pattern.as_bytes(), 0, false, |_| true);
        found
            .expect("a good pattern")
            .map(|found| (found.start, found.end))
    }

    #[test]
    fn matches() {
        for (source, pattern, place) in [
            ("hello", "l+", Some((2, 4))),
            ("hello", "l-o", Some((2, 5))),
            ("hello", "x*", Some((0, 0))),
            ("hello", "^l", None),
            ("hello", "(h)(.)%2", None),
            ("hello", "(.)%1", Some((2, 4))),
            ("f(a(b)c)", "%b()", Some((1, 8))),
            ("THE (quick) fox", "%f[%a]%a+%f[%A]", Some((0, 3))),
            ("a.b", "[^%w]", Some((1, 2))),
            ("abc", "a?b?c?$", Some((0, 3))),
            ("2024-01-02", "(%d+)-(%d+)-(%d+)", Some((0, 10))),
        ] {
            // `^` is the business of the callers.
            let place = if pattern.starts_with('^') {
                None
            } else {
                place
            };
            assert_eq!(found(source, pattern), place, "{source} {pattern}");
        }
    }

    #[test]
    fn wrong_patterns() {
        for (pattern, why) in [
            ("[a", "malformed pattern (missing ']')"),
            ("%", "malformed pattern (ends with '%')"),
            ("%1", "invalid capture index"),
            (")", "invalid pattern capture"),
            ("%b(", "unbalanced pattern"),
            ("%fa", "missing '[' after '%f' in pattern"),
        ] {
            let fault = search(b"abc", pattern.as_bytes(), 0, false, |_| true);
            assert_eq!(fault, Err(Fault::Malformed(why)), "{pattern}");
        }
        let many = "(".repeat(33);
        let fault = search(b"abc", many.as_bytes(), 0, false, |_| true);
        assert_eq!(fault, Err(Fault::Malformed("too many captures")));
    }

    #[test]
    fn long_searches_can_be_stopped() {
        let (source, pattern) = ("a".repeat(30), "a?".repeat(30) + "b");
        let mut steps = 0;
        let fault = search(source.as_bytes(), pattern.as_bytes(), 0, false, |more| {
            steps += more;
            steps < 1_000_000
        });
        assert_eq!(fault, Err(Fault::Stopped));
        let (source, text) = ([b'a'; 100_000], [&[b'a'; 50_000][..], b"b"].concat());
        let fault = find_plain(&source, &text, 0, |_| false);
        assert_eq!(fault, Err(Fault::Stopped));
    }

    #[test]
    fn long_patterns_do_not_nest() {
        let pattern = "a?".repeat(1_000_000);
        assert_eq!(found("aaa", &pattern), Some((0, 3)));
    }
}
