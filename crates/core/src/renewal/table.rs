//! All renewals of one worker: what is due, what is in flight, what is being stopped.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::stopped::Stopped;
use super::{Counts, Failure, Outcome, Settings, Token};

/// When a lease is renewed for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// It ends in so many milliseconds: the grace before that, at once if that is past.
    EndsIn(u64),
    /// It was granted now for so many milliseconds, which may be less than what renewals ask for:
    /// after the interval, or a third of what was granted if that is earlier.
    Granted(u64),
}

/// A renewal to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// Its name.
    pub token: Token,
    /// What each extension asks for.
    pub lease_ms: u64,
    /// The interval between renewals, if not [`Settings::interval_ms`].
    pub interval_ms: Option<u64>,
    /// When the first one is due.
    pub first: First,
    /// Brings each renewal forward to the last multiple of this, so that those of one server are
    /// due together and share a request; 0: none.
    pub align_ms: u64,
    /// The longest time from now for which the lease is kept. No extension asks for more, and the
    /// owner is told when it is over.
    pub longest_ms: Option<u64>,
}

/// What became of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// It is active.
    Scheduled,
    /// Its stop came first; nothing will be sent.
    StoppedBefore,
    /// The token is in use; nothing has changed.
    Duplicate,
}

/// What became of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    /// No extension runs or will be begun.
    Done,
    /// An extension runs; [`Action::Stopped`] or [`Action::StopTimedOut`] will tell its end.
    Waiting,
    /// An extension runs, and nobody waits for it: cancel it. Its end need not be told.
    Cancel,
}

/// Why a renewal has ended that nobody stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Lost {
    /// The server refused an extension.
    Refused,
    /// The longest lease time is over.
    LongestTime,
}

/// What a host has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Ask the server to let the lease end so many milliseconds from now, once, and tell
    /// [`Table::finished`] how that went.
    Extend {
        /// Of which renewal.
        token: Token,
        /// How long the lease should last.
        lease_ms: u64,
    },
    /// Tell whoever waits for the stop that it is complete.
    Stopped {
        /// Of which renewal.
        token: Token,
    },
    /// Tell whoever waits for the stop that its time is over, and cancel the extension that runs.
    StopTimedOut {
        /// Of which renewal.
        token: Token,
    },
    /// Tell the owner that nobody keeps the lease any longer.
    Lost {
        /// Of which renewal.
        token: Token,
        /// Why.
        why: Lost,
    },
}

#[derive(Debug)]
struct Renewal {
    lease_ms: u64,
    interval_ms: u64,
    align_ms: u64,
    /// The end of the longest lease time.
    until_ms: Option<u64>,
    /// The next thing that happens to it, if nothing is in flight.
    due_ms: u64,
    in_flight: bool,
    /// Attempts so far, for the jitter.
    attempts: u64,
    /// It asks for no more: what it has reaches to the end of the longest time.
    final_lease: bool,
}

/// The renewals of one worker.
///
/// Times are milliseconds of the host's clock, which must not go back.
#[derive(Debug)]
pub struct Table {
    settings: Settings,
    seed: u64,
    active: BTreeMap<Token, Renewal>,
    due: BTreeSet<(u64, Token)>,
    /// Waited stops whose extension runs, with the end of the wait.
    stopping: BTreeMap<Token, u64>,
    stop_ends: BTreeSet<(u64, Token)>,
    stopped: Stopped,
    counts: Counts,
}

impl Table {
    /// An empty table. The seed makes the jitter; any number will do.
    pub fn new(settings: Settings, seed: u64) -> Self {
        Self {
            stopped: Stopped::new(settings.stopped_memory),
            settings,
            seed,
            active: BTreeMap::new(),
            due: BTreeSet::new(),
            stopping: BTreeMap::new(),
            stop_ends: BTreeSet::new(),
            counts: Counts::default(),
        }
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Registers a renewal.
    pub fn start(&mut self, now_ms: u64, start: &Start) -> Started {
        let token = start.token;
        if self.stopped.take(token) {
            return Started::StoppedBefore;
        }
        if self.active.contains_key(&token) || self.stopping.contains_key(&token) {
            return Started::Duplicate;
        }
        let interval_ms = start
            .interval_ms
            .unwrap_or_else(|| self.settings.interval_ms(start.lease_ms))
            .max(1);
        let delay_ms = match start.first {
            First::EndsIn(left) => left
                .saturating_sub(self.settings.deadline_grace_ms)
                .max(self.settings.due_now_delay_ms),
            First::Granted(granted) if start.interval_ms.is_none() => {
                self.early(interval_ms.min(granted / 3), token, 0)
            }
            First::Granted(_) => self.early(interval_ms, token, 0),
        };
        let delay_ms = match delay_ms {
            0 => self.settings.due_now_delay_ms,
            delay => delay,
        };
        let mut renewal = Renewal {
            lease_ms: start.lease_ms,
            interval_ms,
            align_ms: start.align_ms,
            until_ms: start
                .longest_ms
                .map(|longest| now_ms.saturating_add(longest)),
            due_ms: 0,
            in_flight: false,
            attempts: 0,
            final_lease: false,
        };
        schedule(&mut self.due, token, &mut renewal, now_ms, delay_ms);
        self.active.insert(token, renewal);
        self.counts.active += 1;
        Started::Scheduled
    }

    /// Ends a renewal: no further extension is begun. A stop that waits lets the extension that
    /// runs come to its end, for [`Settings::stop_timeout_ms`] at most, so that it cannot take
    /// effect after what the caller does next.
    pub fn stop(&mut self, now_ms: u64, token: Token, wait: bool) -> Stopping {
        if self.stopping.contains_key(&token) {
            return if wait {
                Stopping::Waiting
            } else {
                Stopping::Done
            };
        }
        let Some(renewal) = self.remove(token) else {
            self.stopped.add(token);
            return Stopping::Done;
        };
        if !renewal.in_flight {
            return Stopping::Done;
        }
        if !wait {
            self.counts.in_flight -= 1;
            return Stopping::Cancel;
        }
        let end_ms = now_ms.saturating_add(self.settings.stop_timeout_ms);
        self.stopping.insert(token, end_ms);
        self.stop_ends.insert((end_ms, token));
        Stopping::Waiting
    }

    /// What is due now, the earliest first: at most `max` extensions, and all else. An extension
    /// that is given out is in flight until [`finished`](Self::finished).
    pub fn poll(&mut self, now_ms: u64, max: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        while let Some(&(end_ms, token)) = self.stop_ends.first()
            && end_ms <= now_ms
        {
            self.stop_ends.pop_first();
            self.stopping.remove(&token);
            self.counts.in_flight -= 1;
            self.counts.stop_timeouts += 1;
            actions.push(Action::StopTimedOut { token });
        }
        let mut extensions = 0;
        while extensions < max
            && let Some(&(due_ms, token)) = self.due.first()
            && due_ms <= now_ms
        {
            self.due.pop_first();
            let Some(renewal) = self.active.get_mut(&token) else {
                continue;
            };
            let left_ms = renewal
                .until_ms
                .map_or(u64::MAX, |until| until.saturating_sub(now_ms));
            if left_ms == 0 {
                self.active.remove(&token);
                self.counts.active -= 1;
                self.counts.capped += 1;
                actions.push(Action::Lost {
                    token,
                    why: Lost::LongestTime,
                });
                continue;
            }
            renewal.in_flight = true;
            renewal.attempts += 1;
            renewal.final_lease = renewal.lease_ms >= left_ms;
            let lease_ms = renewal.lease_ms.min(left_ms);
            self.counts.in_flight += 1;
            self.counts.late(now_ms - due_ms);
            extensions += 1;
            actions.push(Action::Extend { token, lease_ms });
        }
        actions
    }

    /// An extension has ended so, now.
    pub fn finished(&mut self, now_ms: u64, token: Token, outcome: Outcome) -> Option<Action> {
        if let Some(end_ms) = self.stopping.remove(&token) {
            self.stop_ends.remove(&(end_ms, token));
            self.counts.in_flight -= 1;
            self.count(outcome);
            return Some(Action::Stopped { token });
        }
        let renewal = self.active.get_mut(&token)?;
        if !renewal.in_flight {
            return None;
        }
        renewal.in_flight = false;
        let (interval_ms, attempts) = (renewal.interval_ms, renewal.attempts);
        self.counts.in_flight -= 1;
        self.count(outcome);
        let delay_ms = match outcome {
            Ok(()) => self.early(interval_ms, token, attempts),
            Err(Failure::Gone | Failure::Refused) => {
                self.remove(token);
                return Some(Action::Lost {
                    token,
                    why: Lost::Refused,
                });
            }
            Err(Failure::Throttled(hint_ms)) => self.settings.retry_ms(hint_ms, interval_ms),
            Err(_) => self.settings.retry_ms(None, interval_ms),
        };
        let renewal = self.active.get_mut(&token)?;
        renewal.final_lease &= outcome.is_ok();
        schedule(&mut self.due, token, renewal, now_ms, delay_ms);
        None
    }

    /// Whoever ran the extensions has died: those in flight count as ended, and are due now. The
    /// stops that waited for one are complete.
    pub fn recover(&mut self, now_ms: u64) -> Vec<Action> {
        for (&token, renewal) in &mut self.active {
            if renewal.in_flight {
                renewal.in_flight = false;
                renewal.final_lease = false;
                schedule(&mut self.due, token, renewal, now_ms, 0);
            }
        }
        self.counts.in_flight = 0;
        self.stop_ends.clear();
        let stopped = core::mem::take(&mut self.stopping);
        stopped
            .into_keys()
            .map(|token| Action::Stopped { token })
            .collect()
    }

    /// When to [`poll`](Self::poll) next, if nothing is told before.
    pub fn next_due_ms(&self) -> Option<u64> {
        let due = self.due.first().map(|(due_ms, _)| *due_ms);
        let end = self.stop_ends.first().map(|(end_ms, _)| *end_ms);
        due.into_iter().chain(end).min()
    }

    /// Whether a renewal is active.
    pub fn is_active(&self, token: Token) -> bool {
        self.active.contains_key(&token)
    }

    /// Whether a waited stop waits for an extension.
    pub fn is_stopping(&self, token: Token) -> bool {
        self.stopping.contains_key(&token)
    }

    /// Whether a stop is remembered for its start.
    pub fn is_remembered(&self, token: Token) -> bool {
        self.stopped.contains(token)
    }

    /// How many stops are remembered.
    pub fn remembered(&self) -> usize {
        self.stopped.len()
    }

    /// What was done so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    fn remove(&mut self, token: Token) -> Option<Renewal> {
        let renewal = self.active.remove(&token)?;
        self.due.remove(&(renewal.due_ms, token));
        self.counts.active -= 1;
        Some(renewal)
    }

    fn count(&mut self, outcome: Outcome) {
        let counter = match outcome {
            Ok(()) => &mut self.counts.extended,
            Err(Failure::Gone | Failure::Refused) => &mut self.counts.refused,
            Err(Failure::Throttled(_)) => &mut self.counts.throttled,
            Err(Failure::Connection | Failure::Transient) => &mut self.counts.transient,
            Err(Failure::Unexpected) => &mut self.counts.unexpected,
        };
        *counter += 1;
    }

    /// The interval, brought forward by the jitter.
    fn early(&self, interval_ms: u64, token: Token, attempt: u64) -> u64 {
        let widest = interval_ms.saturating_mul(u64::from(self.settings.jitter_percent)) / 100;
        if widest == 0 {
            return interval_ms;
        }
        let mixed = mix(self.seed ^ mix(token.0 ^ mix(attempt)));
        interval_ms - mixed % (widest + 1)
    }
}

/// Sets when the next extension is due, or the end of the longest time if that comes first.
fn schedule(
    due: &mut BTreeSet<(u64, Token)>,
    token: Token,
    renewal: &mut Renewal,
    now_ms: u64,
    delay_ms: u64,
) {
    let mut next_ms = now_ms.saturating_add(delay_ms);
    let over_ms = next_ms.checked_rem(renewal.align_ms).unwrap_or(0);
    if over_ms < delay_ms {
        next_ms -= over_ms;
    }
    renewal.due_ms = match renewal.until_ms {
        Some(until_ms) if renewal.final_lease => until_ms,
        Some(until_ms) => next_ms.min(until_ms),
        None => next_ms,
    };
    due.insert((renewal.due_ms, token));
}

/// Spreads the bits of a number, by the finaliser of SplitMix64.
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
