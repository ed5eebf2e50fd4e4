//! The table with what belongs to its renewals. It outlives the task that works on it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use leaseline_core::renewal::{Action, Outcome, Started, Stopping, Token};
use tokio::runtime::Handle;

use crate::command::{Command, Entry};
use crate::extend::{AnyLease, Group};
use crate::notice::{REGISTERED, STOPPED, STOPPED_BEFORE, TIMED_OUT};
use crate::schedule::Schedule;

/// The most extensions that are begun at once; the rest follows immediately.
const MAX_TURN: usize = 8_192;

/// An extension that is due.
pub(crate) struct Due {
    pub(crate) token: Token,
    pub(crate) lease: AnyLease,
    pub(crate) lease_time: Duration,
    pub(crate) group: Arc<dyn Group>,
    pub(crate) runtime: Handle,
}

/// What the worker does next.
#[derive(Default)]
pub(crate) struct Turn {
    pub(crate) due: Vec<Due>,
    pub(crate) cancel: Vec<Token>,
    /// Dropped by the worker when it holds no lock: they are the program's.
    pub(crate) ended: Vec<Entry>,
    pub(crate) next_due_ms: Option<u64>,
}

pub(crate) struct State {
    pub(crate) table: Box<dyn Schedule>,
    pub(crate) entries: HashMap<Token, Entry>,
    pub(crate) commands: VecDeque<Command>,
    /// The worker that runs.
    pub(crate) running: Option<u64>,
    /// The last one that was started.
    pub(crate) generation: u64,
    /// Where a worker can run, the newest last.
    pub(crate) runtimes: Vec<Handle>,
    pub(crate) batches: u64,
}

impl State {
    pub(crate) fn new(table: Box<dyn Schedule>) -> Self {
        Self {
            table,
            entries: HashMap::new(),
            commands: VecDeque::new(),
            running: None,
            generation: 0,
            runtimes: Vec::new(),
            batches: 0,
        }
    }

    /// Takes all commands, then what is due.
    pub(crate) fn turn(&mut self, now_ms: u64) -> Turn {
        let mut turn = Turn::default();
        while let Some(command) = self.commands.pop_front() {
            self.obey(now_ms, command, &mut turn);
        }
        for action in self.table.poll(now_ms, MAX_TURN) {
            self.act(now_ms, action, &mut turn);
        }
        turn.next_due_ms = self.table.next_due_ms();
        turn
    }

    /// Extensions have ended.
    pub(crate) fn finished(
        &mut self,
        now_ms: u64,
        outcomes: impl IntoIterator<Item = (Token, Outcome)>,
    ) -> Turn {
        let mut turn = Turn::default();
        for (token, outcome) in outcomes {
            if let Err(failure) = outcome {
                tracing::debug!(?failure, renewal = token.0, "a lease was not extended");
            }
            if let Some(action) = self.table.finished(now_ms, token, outcome) {
                self.act(now_ms, action, &mut turn);
            }
        }
        turn
    }

    /// A new worker begins: what the last one had in flight is due again.
    pub(crate) fn recover(&mut self, now_ms: u64) -> Turn {
        let mut turn = Turn::default();
        for action in self.table.recover(now_ms) {
            self.act(now_ms, action, &mut turn);
        }
        turn
    }

    fn obey(&mut self, now_ms: u64, command: Command, turn: &mut Turn) {
        match command {
            Command::Start(start, entry) => {
                let started = if entry.notice.is_abandoned() {
                    self.table.stop(now_ms, start.token, false);
                    self.table.start(now_ms, &start)
                } else {
                    self.table.start(now_ms, &start)
                };
                if started == Started::Scheduled {
                    entry.notice.tell(REGISTERED);
                    self.entries.insert(start.token, entry);
                } else {
                    entry.notice.tell(REGISTERED | STOPPED_BEFORE);
                    turn.ended.push(entry);
                }
            }
            Command::Stop {
                token,
                wait,
                notice,
            } => {
                let stopping = self.table.stop(now_ms, token, wait);
                if let Some(entry) = self.entries.get_mut(&token) {
                    entry.stopping |= stopping == Stopping::Waiting;
                    if entry.stopping {
                        return;
                    }
                }
                if stopping == Stopping::Cancel {
                    turn.cancel.push(token);
                }
                turn.ended.extend(self.entries.remove(&token));
                notice.tell(STOPPED);
            }
        }
    }

    fn act(&mut self, now_ms: u64, action: Action, turn: &mut Turn) {
        match action {
            Action::Extend { token, lease_ms } => {
                let Some(entry) = self.entries.get(&token) else {
                    return;
                };
                if entry.notice.is_abandoned() {
                    self.table.stop(now_ms, token, false);
                    turn.ended.extend(self.entries.remove(&token));
                    return;
                }
                turn.due.push(Due {
                    token,
                    lease: Arc::clone(&entry.lease),
                    lease_time: Duration::from_millis(lease_ms),
                    group: Arc::clone(&entry.group),
                    runtime: entry.runtime.clone(),
                });
            }
            Action::Stopped { token } => self.end(token, turn, |entry| entry.notice.tell(STOPPED)),
            Action::StopTimedOut { token } => {
                turn.cancel.push(token);
                self.end(token, turn, |entry| entry.notice.tell(TIMED_OUT));
            }
            Action::Lost { token, why } => self.end(token, turn, |entry| {
                tracing::debug!(?why, renewal = token.0, "a lease is kept no longer");
                entry.notice.tell_lost(why);
                if let Some(on_lost) = entry.on_lost.take() {
                    entry.runtime.spawn(async move { on_lost(why) });
                }
            }),
            _ => {}
        }
    }

    fn end(&mut self, token: Token, turn: &mut Turn, tell: impl FnOnce(&mut Entry)) {
        if let Some(mut entry) = self.entries.remove(&token) {
            tell(&mut entry);
            turn.ended.push(entry);
        }
    }
}
