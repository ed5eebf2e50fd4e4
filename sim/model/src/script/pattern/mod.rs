//! Lua's patterns, as `string.find` and its kin use them.
//!
//! Lua's own functions try every way to match without ever looking at a limit, and call
//! themselves for each item of a pattern. A short pattern can so run for years, and a long one
//! overflows the stack. Here the ways not tried yet are kept in a list, and steps are counted.

mod class;

use class::Item;

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

/// What to do when the way taken has failed.
#[derive(Debug, Clone, Copy)]
enum Choice {
    /// Go on with the pattern from here, without the item.
    Without { at: usize, pattern: usize },
    /// Let the item have one byte less than `at`, but no less than `from`.
    Less {
        from: usize,
        at: usize,
        pattern: usize,
    },
    /// Let the item have one byte more.
    More { at: usize, item: Item },
    /// Take back a parenthesis.
    Reopen(usize),
    /// Take back an opening parenthesis.
    Unopen,
}

/// Whether the way taken goes on.
enum Step {
    Next { at: usize, pattern: usize },
    Matched { end: usize },
    Failed,
}

/// A search of one pattern.
struct Search<'a, C> {
    source: &'a [u8],
    /// Up to its first NUL, where Lua stops reading.
    pattern: &'a [u8],
    captures: [Capture; MAX_CAPTURES],
    level: usize,
    choices: Vec<Choice>,
    steps: usize,
    count: C,
}

/// Whether a text is searched as it is, because it means nothing special as a pattern.
pub(super) fn is_plain(pattern: &[u8]) -> bool {
    !until_nul(pattern)
        .iter()
        .any(|byte| b"^$*+?.([%-".contains(byte))
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
    let mut search = Search {
        source,
        pattern: until_nul(pattern),
        captures: [Capture::default(); MAX_CAPTURES],
        level: 0,
        choices: Vec::new(),
        steps: 0,
        count,
    };
    let mut answer = Ok(None);
    for start in from..=source.len() {
        answer = search.attempt(start);
        if only_there || answer != Ok(None) {
            break;
        }
    }
    let steps = search.steps;
    match (search.count)(steps) {
        true => answer,
        false => Err(Fault::Stopped),
    }
}

/// Where `text` is in `source`, from `from` on.
pub(super) fn find_plain(
    source: &[u8],
    text: &[u8],
    from: usize,
    mut count: impl FnMut(usize) -> bool,
) -> Result<Option<usize>, Fault> {
    let Some(first) = text.first() else {
        return Ok((from <= source.len()).then_some(from));
    };
    let mut steps = 0;
    let mut start = from;
    let mut answer = None;
    while let Some(rest) = source.get(start..).filter(|rest| rest.len() >= text.len()) {
        let Some(skipped) = rest.iter().position(|byte| byte == first) else {
            steps += rest.len();
            break;
        };
        start += skipped;
        steps += skipped + 1;
        if source[start..].starts_with(text) {
            answer = Some(start);
            break;
        }
        // Comparing is quick, but may have come far.
        steps += text.len() / 32;
        start += 1;
        if steps >= STEPS_PER_COUNT && !count(std::mem::take(&mut steps)) {
            return Err(Fault::Stopped);
        }
    }
    match count(steps) {
        true => Ok(answer),
        false => Err(Fault::Stopped),
    }
}

impl<C: FnMut(usize) -> bool> Search<'_, C> {
    fn attempt(&mut self, start: usize) -> Result<Option<Found>, Fault> {
        self.level = 0;
        self.choices.clear();
        let (mut at, mut pattern) = (start, 0);
        loop {
            match self.step(at, pattern)? {
                Step::Next {
                    at: next,
                    pattern: rest,
                } => (at, pattern) = (next, rest),
                Step::Matched { end } => {
                    return Ok(Some(Found {
                        start,
                        end,
                        captures: self.captures,
                        level: self.level,
                    }));
                }
                Step::Failed => match self.go_back()? {
                    Some(other) => (at, pattern) = other,
                    None => return Ok(None),
                },
            }
        }
    }

    fn count_steps(&mut self, steps: usize) -> Result<(), Fault> {
        self.steps += steps;
        if self.steps < STEPS_PER_COUNT {
            return Ok(());
        }
        match (self.count)(std::mem::take(&mut self.steps)) {
            true => Ok(()),
            false => Err(Fault::Stopped),
        }
    }

    /// The byte of the pattern, where NUL stands for its end.
    fn peek(&self, index: usize) -> u8 {
        self.pattern.get(index).copied().unwrap_or(0)
    }

    fn step(&mut self, at: usize, pattern: usize) -> Result<Step, Fault> {
        self.count_steps(1)?;
        let next = self.peek(pattern + 1);
        match self.peek(pattern) {
            0 => Ok(Step::Matched { end: at }),
            b'(' if next == b')' => self.open(at, Extent::Position, pattern + 2),
            b'(' => self.open(at, Extent::Unfinished, pattern + 1),
            b')' => self.close(at, pattern + 1),
            b'$' if next == 0 => Ok(match at == self.source.len() {
                true => Step::Matched { end: at },
                false => Step::Failed,
            }),
            b'%' if next == b'b' => self.balance(at, pattern + 2),
            b'%' if next == b'f' => self.frontier(at, pattern + 2),
            b'%' if next.is_ascii_digit() => self.repeat(at, next, pattern + 2),
            _ => self.item(at, pattern),
        }
    }

    fn open(&mut self, at: usize, extent: Extent, pattern: usize) -> Result<Step, Fault> {
        let place = self
            .captures
            .get_mut(self.level)
            .ok_or(Fault::Malformed("too many captures"))?;
        *place = Capture { start: at, extent };
        self.level += 1;
        self.choices.push(Choice::Unopen);
        Ok(Step::Next { at, pattern })
    }

    fn close(&mut self, at: usize, pattern: usize) -> Result<Step, Fault> {
        let open = |capture: &Capture| capture.extent == Extent::Unfinished;
        let index = self.captures[..self.level]
            .iter()
            .rposition(open)
            .ok_or(Fault::Malformed("invalid pattern capture"))?;
        let capture = &mut self.captures[index];
        capture.extent = Extent::Bytes(at - capture.start);
        self.choices.push(Choice::Reopen(index));
        Ok(Step::Next { at, pattern })
    }

    /// `%1`: what a capture has, once more.
    fn repeat(&mut self, at: usize, digit: u8, pattern: usize) -> Result<Step, Fault> {
        let capture = usize::from(digit)
            .checked_sub(usize::from(b'1'))
            .and_then(|index| self.captures[..self.level].get(index))
            .filter(|capture| capture.extent != Extent::Unfinished)
            .ok_or(Fault::Malformed("invalid capture index"))?;
        let Extent::Bytes(length) = capture.extent else {
            return Ok(Step::Failed); // a position matches nothing
        };
        let text = &self.source[capture.start..capture.start + length];
        let matches = self.source[at..].starts_with(text);
        self.count_steps(length / 32)?;
        Ok(match matches {
            true => Step::Next {
                at: at + length,
                pattern,
            },
            false => Step::Failed,
        })
    }

    /// `%b()`: up to where the brackets are even.
    fn balance(&mut self, at: usize, pattern: usize) -> Result<Step, Fault> {
        let (open, close) = (self.peek(pattern), self.peek(pattern + 1));
        if open == 0 || close == 0 {
            return Err(Fault::Malformed("unbalanced pattern"));
        }
        if self.source.get(at) != Some(&open) {
            return Ok(Step::Failed);
        }
        let mut depth = 1_usize;
        for (distance, byte) in self.source[at + 1..].iter().enumerate() {
            if *byte == close {
                depth -= 1;
                if depth == 0 {
                    self.count_steps(distance)?;
                    return Ok(Step::Next {
                        at: at + distance + 2,
                        pattern: pattern + 2,
                    });
                }
            } else if *byte == open {
                depth += 1;
            }
        }
        self.count_steps(self.source.len() - at)?;
        Ok(Step::Failed)
    }

    /// `%f[set]`: where a byte of the set follows one that is not of it.
    fn frontier(&mut self, at: usize, pattern: usize) -> Result<Step, Fault> {
        if self.peek(pattern) != b'[' {
            return Err(Fault::Malformed("missing '[' after '%f' in pattern"));
        }
        let set = Item::parse(self.pattern, pattern)?;
        let byte = |index: Option<usize>| {
            index
                .and_then(|index| self.source.get(index))
                .copied()
                .unwrap_or(0)
        };
        let (before, after) = (byte(at.checked_sub(1)), byte(Some(at)));
        Ok(
            match !set.matches(self.pattern, before) && set.matches(self.pattern, after) {
                true => Step::Next {
                    at,
                    pattern: set.end,
                },
                false => Step::Failed,
            },
        )
    }

    /// One byte of a kind, or as many as the sign behind it says.
    fn item(&mut self, at: usize, pattern: usize) -> Result<Step, Fault> {
        let item = Item::parse(self.pattern, pattern)?;
        let after = item.end + 1;
        let matches = self.matches(item, at);
        match self.peek(item.end) {
            b'?' if matches => {
                self.choices.push(Choice::Without { at, pattern: after });
                Ok(Step::Next {
                    at: at + 1,
                    pattern: after,
                })
            }
            b'?' => Ok(Step::Next { at, pattern: after }),
            b'+' if !matches => Ok(Step::Failed),
            b'+' => self.most(item, at + 1, after),
            b'*' => self.most(item, at, after),
            b'-' => {
                self.choices.push(Choice::More { at, item });
                Ok(Step::Next { at, pattern: after })
            }
            _ if matches => Ok(Step::Next {
                at: at + 1,
                pattern: item.end,
            }),
            _ => Ok(Step::Failed),
        }
    }

    fn matches(&self, item: Item, at: usize) -> bool {
        let byte = self.source.get(at);
        byte.is_some_and(|byte| item.matches(self.pattern, *byte))
    }

    /// As many bytes as there are, and then less and less.
    fn most(&mut self, item: Item, from: usize, pattern: usize) -> Result<Step, Fault> {
        let mut at = from;
        while self.matches(item, at) {
            at += 1;
            self.count_steps(1)?;
        }
        self.choices.push(Choice::Less { from, at, pattern });
        Ok(Step::Next { at, pattern })
    }

    /// The next way to try.
    fn go_back(&mut self) -> Result<Option<(usize, usize)>, Fault> {
        while let Some(choice) = self.choices.pop() {
            match choice {
                Choice::Without { at, pattern } => return Ok(Some((at, pattern))),
                Choice::Less { from, at, pattern } if at > from => {
                    let at = at - 1;
                    self.choices.push(Choice::Less { from, at, pattern });
                    return Ok(Some((at, pattern)));
                }
                Choice::Less { .. } => {}
                Choice::More { at, item } => {
                    self.count_steps(1)?;
                    if self.matches(item, at) {
                        let at = at + 1;
                        self.choices.push(Choice::More { at, item });
                        return Ok(Some((at, item.end + 1)));
                    }
                }
                Choice::Reopen(index) => self.captures[index].extent = Extent::Unfinished,
                Choice::Unopen => self.level -= 1,
            }
        }
        Ok(None)
    }
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
