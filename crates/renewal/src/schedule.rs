//! What a worker asks for its decisions.

use leaseline_core::renewal::{Action, Counts, Outcome, Start, Started, Stopping, Table, Token};

/// Decides what is due. Core's [`Table`] is the one of every worker but those of
/// [`Worker::with_schedule`](crate::Worker::with_schedule), whose table may be elsewhere: in the
/// component, say. Each call is answered at once, by the rules of the table.
pub trait Schedule: Send + 'static {
    /// As [`Table::start`].
    fn start(&mut self, now_ms: u64, start: &Start) -> Started;
    /// As [`Table::stop`].
    fn stop(&mut self, now_ms: u64, token: Token, wait: bool) -> Stopping;
    /// As [`Table::poll`].
    fn poll(&mut self, now_ms: u64, max: usize) -> Vec<Action>;
    /// As [`Table::finished`].
    fn finished(&mut self, now_ms: u64, token: Token, outcome: Outcome) -> Option<Action>;
    /// As [`Table::recover`].
    fn recover(&mut self, now_ms: u64) -> Vec<Action>;
    /// As [`Table::next_due_ms`].
    fn next_due_ms(&mut self) -> Option<u64>;
    /// As [`Table::counts`].
    fn counts(&mut self) -> Counts;
}

impl Schedule for Table {
    fn start(&mut self, now_ms: u64, start: &Start) -> Started {
        self.start(now_ms, start)
    }

    fn stop(&mut self, now_ms: u64, token: Token, wait: bool) -> Stopping {
        self.stop(now_ms, token, wait)
    }

    fn poll(&mut self, now_ms: u64, max: usize) -> Vec<Action> {
        self.poll(now_ms, max)
    }

    fn finished(&mut self, now_ms: u64, token: Token, outcome: Outcome) -> Option<Action> {
        self.finished(now_ms, token, outcome)
    }

    fn recover(&mut self, now_ms: u64) -> Vec<Action> {
        self.recover(now_ms)
    }

    fn next_due_ms(&mut self) -> Option<u64> {
        Table::next_due_ms(self)
    }

    fn counts(&mut self) -> Counts {
        Table::counts(self).clone()
    }
}
