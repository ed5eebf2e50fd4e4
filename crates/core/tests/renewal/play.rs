//! Random sequences of commands, ends of requests and time, with an account of what must hold.

use std::collections::{BTreeMap, BTreeSet};

use leaseline_core::renewal::{
    Action, Failure, First, Lost, Settings, Start, Started, Stopping, Table, Token,
};
use proptest::prelude::*;

use crate::history::{Event, Moment};

pub(crate) const TOKENS: u64 = 12;

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Start(u64, u64),
    Stop(u64, bool),
    Poll(usize),
    Finish(u64, Result<(), Failure>),
    Pass(u64),
    Recover,
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let token = 0..TOKENS;
    let outcome = prop_oneof![
        4 => Just(Ok(())),
        1 => Just(Err(Failure::Refused)),
        1 => Just(Err(Failure::Gone)),
        2 => Just(Err(Failure::Connection)),
        1 => Just(Err(Failure::Unexpected)),
        2 => prop::option::of(0..20_000_u64).prop_map(|hint| Err(Failure::Throttled(hint))),
    ];
    let step = prop_oneof![
        3 => (token.clone(), 30_000..400_000_u64).prop_map(|(token, lease)| Step::Start(token, lease)),
        2 => (token.clone(), any::<bool>()).prop_map(|(token, wait)| Step::Stop(token, wait)),
        4 => (0..5_usize).prop_map(Step::Poll),
        4 => (token, outcome).prop_map(|(token, outcome)| Step::Finish(token, outcome)),
        3 => (0..30_000_u64).prop_map(Step::Pass),
        1 => Just(Step::Recover),
    ];
    prop::collection::vec(step, 0..300)
}

/// What is known from outside about one table.
pub(crate) struct Play {
    table: Table,
    pub(crate) moments: Vec<Moment>,
    now: u64,
    in_flight: BTreeSet<Token>,
    active: BTreeSet<Token>,
    /// Waited stops without an answer, with their time.
    waiting: BTreeMap<Token, u64>,
    /// Stopped or ended: nothing may be sent any more, unless started anew under the token.
    over: BTreeSet<Token>,
    remembered: BTreeSet<Token>,
}

impl Play {
    pub(crate) fn new() -> Self {
        Self {
            table: Table::new(Settings::default(), 1),
            moments: Vec::new(),
            now: 0,
            in_flight: BTreeSet::new(),
            active: BTreeSet::new(),
            waiting: BTreeMap::new(),
            over: BTreeSet::new(),
            remembered: BTreeSet::new(),
        }
    }

    pub(crate) fn step(&mut self, step: Step) {
        match step {
            Step::Start(token, lease_ms) => self.start(Token(token), lease_ms),
            Step::Stop(token, wait) => self.stop(Token(token), wait),
            Step::Poll(max) => {
                let extensions = self.poll(max);
                assert!(extensions <= max);
            }
            Step::Finish(token, outcome) => self.finish(Token(token), outcome),
            Step::Pass(ms) => self.now += ms,
            Step::Recover => self.recover(),
        }
        self.check();
    }

    fn note(&mut self, event: Event) {
        let active = (0..TOKENS).map(Token);
        self.moments.push(Moment {
            now_ms: self.now,
            event,
            active: active
                .filter(|token| self.table.is_active(*token))
                .collect(),
            next_due_ms: self.table.next_due_ms(),
            counts: self.table.counts().clone(),
        });
    }

    fn start(&mut self, token: Token, lease_ms: u64) {
        let started = self.table.start(
            self.now,
            &Start {
                token,
                lease_ms,
                interval_ms: None,
                first: First::Granted(lease_ms),
                align_ms: 0,
                longest_ms: None,
            },
        );
        let want = if self.remembered.remove(&token) {
            Started::StoppedBefore
        } else if self.active.contains(&token) || self.waiting.contains_key(&token) {
            Started::Duplicate
        } else {
            self.active.insert(token);
            self.over.remove(&token);
            // A cancelled request of the token's last life is not this life's.
            self.in_flight.remove(&token);
            Started::Scheduled
        };
        assert_eq!(started, want);
        self.note(Event::Start(token, lease_ms, started));
    }

    fn stop(&mut self, token: Token, wait: bool) {
        let stopping = self.table.stop(self.now, token, wait);
        let want = if self.waiting.contains_key(&token) {
            if wait {
                Stopping::Waiting
            } else {
                Stopping::Done
            }
        } else if self.active.remove(&token) {
            self.over.insert(token);
            match (self.in_flight.contains(&token), wait) {
                (false, _) => Stopping::Done,
                (true, false) => {
                    self.in_flight.remove(&token);
                    Stopping::Cancel
                }
                (true, true) => {
                    self.waiting.insert(token, self.now);
                    Stopping::Waiting
                }
            }
        } else {
            self.remembered.insert(token);
            Stopping::Done
        };
        assert_eq!(stopping, want);
        self.note(Event::Stop(token, wait, stopping));
    }

    fn poll(&mut self, max: usize) -> usize {
        let mut extensions = 0;
        for action in self.table.poll(self.now, max) {
            match action {
                Action::Extend { token, lease_ms } => {
                    self.note(Event::Extend(token, lease_ms));
                    extensions += 1;
                    assert!(self.active.contains(&token), "it is active");
                    assert!(!self.over.contains(&token), "it was not stopped");
                    assert!(self.in_flight.insert(token), "only one at a time");
                }
                Action::StopTimedOut { token } => {
                    self.note(Event::StopTimedOut(token));
                    let since = self.waiting.remove(&token).expect("somebody waits");
                    assert!(self.now >= since + 5_000);
                    self.in_flight.remove(&token);
                }
                other => panic!("{other:?}"),
            }
        }
        for since in self.waiting.values() {
            assert!(self.now < since + 5_000, "a stop waits for too long");
        }
        self.note(Event::Polled);
        extensions
    }

    fn finish(&mut self, token: Token, outcome: Result<(), Failure>) {
        let before = (self.table.next_due_ms(), self.table.counts().clone());
        let action = self.table.finished(self.now, token, outcome);
        self.note(Event::Ended(token, outcome, action));
        if !self.in_flight.remove(&token) {
            assert_eq!(action, None);
            let after = (self.table.next_due_ms(), self.table.counts().clone());
            assert_eq!(before, after, "what arrives too late changes nothing");
        } else if self.waiting.remove(&token).is_some() {
            assert_eq!(action, Some(Action::Stopped { token }));
        } else if let Err(Failure::Gone | Failure::Refused) = outcome {
            let why = Lost::Refused;
            assert_eq!(action, Some(Action::Lost { token, why }));
            self.active.remove(&token);
            self.over.insert(token);
        } else {
            assert_eq!(action, None);
        }
    }

    fn recover(&mut self) {
        let told: BTreeSet<Token> = self
            .table
            .recover(self.now)
            .into_iter()
            .map(|action| match action {
                Action::Stopped { token } => token,
                other => panic!("{other:?}"),
            })
            .collect();
        self.note(Event::Died);
        for token in &told {
            self.note(Event::Stopped(*token));
        }
        let waited = std::mem::take(&mut self.waiting);
        assert_eq!(told, waited.into_keys().collect());
        self.in_flight.clear();
    }

    fn check(&self) {
        let counts = self.table.counts();
        assert_eq!(counts.active, self.active.len() as u64);
        assert_eq!(counts.in_flight, self.in_flight.len() as u64);
        assert_eq!(self.table.remembered(), self.remembered.len());
        for token in &self.active {
            assert!(self.table.is_active(*token));
        }
        let idle = self.active.len() - self.active.intersection(&self.in_flight).count();
        if idle > 0 || !self.waiting.is_empty() {
            assert!(self.table.next_due_ms().is_some(), "somebody would starve");
        }
    }
}
