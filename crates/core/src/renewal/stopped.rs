//! Stops that came before their start.

use alloc::collections::BTreeMap;

use super::Token;

/// Remembers so many tokens, the most recent ones.
#[derive(Debug)]
pub(super) struct Stopped {
    capacity: usize,
    clock: u64,
    by_token: BTreeMap<Token, u64>,
    by_age: BTreeMap<u64, Token>,
}

impl Stopped {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            clock: 0,
            by_token: BTreeMap::new(),
            by_age: BTreeMap::new(),
        }
    }

    /// Adds one as the most recent.
    pub(super) fn add(&mut self, token: Token) {
        self.clock += 1;
        if let Some(age) = self.by_token.insert(token, self.clock) {
            self.by_age.remove(&age);
        }
        self.by_age.insert(self.clock, token);
        while self.by_token.len() > self.capacity {
            let Some((_, oldest)) = self.by_age.pop_first() else {
                return;
            };
            self.by_token.remove(&oldest);
        }
    }

    /// Forgets one, and says whether it was there.
    pub(super) fn take(&mut self, token: Token) -> bool {
        match self.by_token.remove(&token) {
            Some(age) => self.by_age.remove(&age).is_some(),
            None => false,
        }
    }

    pub(super) fn contains(&self, token: Token) -> bool {
        self.by_token.contains_key(&token)
    }

    pub(super) fn len(&self) -> usize {
        self.by_token.len()
    }
}
