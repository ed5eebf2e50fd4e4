//! Which request meets which fault.

use std::time::Duration;

/// How a connection ends, as its client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// In order: FIN, the client reads an end of stream.
    Finish,
    /// Aborted: RST, the client reads "connection reset".
    Reset,
}

/// What happens to one request. Replies to earlier requests of the connection are always
/// delivered first, so pipelined requests make no difference to what the server has executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The connection is cut before the request reaches the server: it does not run, and neither
    /// does anything behind it.
    CutBefore(Cut),
    /// The connection is cut when half of the request has reached the server: it does not run.
    CutInside(Cut),
    /// The request runs, its reply is swallowed, the connection is cut. Requests that were
    /// already in the pipeline behind it run too, and lose their replies too.
    LoseReply(Cut),
    /// The request runs, its reply is swallowed, the connection is cut. Nothing behind it runs.
    LoseReplyAndRest(Cut),
    /// The connection goes silent before the request reaches the server, and stays open.
    StallBefore,
    /// The request runs, then the connection goes silent and stays open.
    StallReply,
    /// The reply, and everything behind it, is late.
    DelayReply(Duration),
    /// The request runs twice, as if a layer below had resent it; the client sees the first
    /// reply.
    Repeat,
}

/// A [`Fault`] for a certain request, counted over all connections of the proxy.
#[derive(Clone, Debug)]
pub struct Rule {
    commands: Vec<String>,
    first: u64,
    every: bool,
    seen: u64,
    pub(crate) fault: Fault,
}

impl Rule {
    /// The `number`-th matching request from now on, counted from 1. Without
    /// [`of`](Self::of) every request matches, also those of a client's handshake.
    pub fn nth(number: u64, fault: Fault) -> Self {
        Self {
            commands: Vec::new(),
            first: number,
            every: false,
            seen: 0,
            fault,
        }
    }

    /// The next matching request.
    pub fn next(fault: Fault) -> Self {
        Self::nth(1, fault)
    }

    /// Counts only requests with one of these command names.
    #[must_use]
    pub fn of<'a>(mut self, commands: impl IntoIterator<Item = &'a str>) -> Self {
        self.commands = commands.into_iter().map(str::to_ascii_uppercase).collect();
        self
    }

    /// Fires at every matching request from the given number on, not only once.
    #[must_use]
    pub fn and_every_later(mut self) -> Self {
        self.every = true;
        self
    }

    /// Counts a request; true if the fault is for it.
    pub(crate) fn meets(&mut self, command: &str) -> bool {
        if !self.commands.is_empty() && !self.commands.iter().any(|name| name == command) {
            return false;
        }
        self.seen += 1;
        self.seen == self.first || (self.every && self.seen > self.first)
    }

    pub(crate) fn is_spent(&self) -> bool {
        !self.every && self.seen >= self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_only_its_commands() {
        let mut rule = Rule::nth(2, Fault::Repeat).of(["evalsha", "EVAL"]);
        let hits: Vec<bool> = ["EVAL", "GET", "EVALSHA", "EVAL"]
            .iter()
            .map(|name| rule.meets(name))
            .collect();
        assert_eq!(hits, [false, false, true, false]);
        assert!(rule.is_spent());

        let mut rule = Rule::nth(2, Fault::StallBefore).and_every_later();
        let hits: Vec<bool> = (0..4).map(|_| rule.meets("GET")).collect();
        assert_eq!(hits, [false, true, true, true]);
        assert!(!rule.is_spent());
    }
}
