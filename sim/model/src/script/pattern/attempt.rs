//! Trying a pattern at one place of a text.

use super::class::Item;
use super::{Capture, Extent, Fault, Found, MAX_CAPTURES, STEPS_PER_COUNT};

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
pub(super) struct Search<'a, C> {
    source: &'a [u8],
    /// Up to its first NUL, where Lua stops reading.
    pattern: &'a [u8],
    captures: [Capture; MAX_CAPTURES],
    level: usize,
    choices: Vec<Choice>,
    steps: usize,
    count: C,
}

impl<'a, C: FnMut(usize) -> bool> Search<'a, C> {
    /// A search of a pattern without NUL. `count` is told of every few thousand steps, and says
    /// whether to go on.
    pub(super) fn new(source: &'a [u8], pattern: &'a [u8], count: C) -> Self {
        Search {
            source,
            pattern,
            captures: [Capture::default(); MAX_CAPTURES],
            level: 0,
            choices: Vec::new(),
            steps: 0,
            count,
        }
    }

    /// Counts the last steps.
    pub(super) fn finish(mut self) -> Result<(), Fault> {
        match (self.count)(self.steps) {
            true => Ok(()),
            false => Err(Fault::Stopped),
        }
    }

    /// The match that starts at this place.
    pub(super) fn attempt(&mut self, start: usize) -> Result<Option<Found>, Fault> {
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
