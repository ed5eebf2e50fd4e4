//! What bounds the next sleep, and when to back off: without clock and without I/O.

use super::{LONGEST_SLEEP_MS, Outlook, POLL_INTERVAL_MS};
use crate::capability::RedisError;
use crate::error::is_transient;

/// The first pause after a look that found nothing where something was announced; it doubles.
const FIRST_PAUSE_MS: u64 = 25;

/// The most polls before a lost connection is dialled again: four seconds.
const MAX_POLLS_AFTER_LOSS: u32 = 8;

/// The most polls before a refused wait is asked for again: a minute.
const MAX_POLLS_AFTER_REFUSAL: u32 = 120;

/// What a waiter does before it lets a sleeper claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Wait for an element, for at most this many milliseconds.
    Block(u64),
    /// Sleep for this many milliseconds; 0: not at all.
    Pause(u64),
}

/// The course of a waiter. Each round is: [`poll`](Self::poll); if that is nothing,
/// [`step`](Self::step) with what the server says; then a claim, and [`claimed`](Self::claimed).
/// [`failed`](Self::failed) ends a round that the server or the network broke off.
#[derive(Debug, Default)]
pub struct Pace {
    /// Looks in a row that came before the longest sleep was over and found nothing.
    fruitless: u32,
    /// The look of this round comes before the longest sleep is over.
    early: bool,
    /// Failures since the last wait that was answered.
    failures: u32,
    /// Polls before the server is asked again.
    polls: u32,
}

impl Pace {
    /// The pause until the next claim, if waiting has failed lately.
    pub fn poll(&mut self) -> Option<u64> {
        self.polls = self.polls.checked_sub(1)?;
        self.early = false;
        Some(POLL_INTERVAL_MS)
    }

    /// What to do in view of the queue.
    ///
    /// Messages that are pending and cannot be claimed (an equal element is under lease) would end
    /// every wait at once, and so would a lease that has ended and cannot be taken back. Looks that
    /// find nothing therefore come more and more slowly. One that came too late for a message that
    /// another process took is not among them: nothing is pending then.
    pub fn step(&mut self, outlook: &Outlook) -> Step {
        let due = outlook.due_in_ms.filter(|due| *due < LONGEST_SLEEP_MS);
        if !outlook.pending && due.is_none() {
            self.fruitless = 0;
        }
        let pause = self.pause_ms();
        if outlook.pending && self.fruitless > 0 {
            self.early = true;
            return Step::Pause(pause);
        }
        let bound = due.map_or(LONGEST_SLEEP_MS, |due| due.max(pause));
        self.early = bound < LONGEST_SLEEP_MS;
        match bound {
            0 => Step::Pause(0),
            _ => Step::Block(bound),
        }
    }

    /// The wait was answered; `rung`: by an element.
    pub fn blocked(&mut self, rung: bool) {
        self.failures = 0;
        self.early |= rung;
    }

    /// Whether the claim found messages.
    pub fn claimed(&mut self, found: bool) {
        if found {
            self.fruitless = 0;
        } else if self.early {
            self.fruitless = self.fruitless.saturating_add(1);
        }
    }

    /// The server could not be asked, or did not let us wait. True: it refuses, and this is the
    /// first time since it last did not. Then claims poll, and the waiting is tried again later:
    /// at once after the first failure that may pass, such as a lost connection, or a slot of a
    /// cluster that moves.
    pub fn failed(&mut self, error: &RedisError) -> bool {
        let doubled = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX);
        self.failures = self.failures.saturating_add(1);
        if is_transient(error) {
            self.polls = (doubled / 2).min(MAX_POLLS_AFTER_LOSS);
            return false;
        }
        self.polls = doubled.saturating_mul(2).min(MAX_POLLS_AFTER_REFUSAL);
        self.failures == 1
    }

    fn pause_ms(&self) -> u64 {
        match self.fruitless.checked_sub(1) {
            None => 0,
            Some(doublings) => 1_u64
                .checked_shl(doublings)
                .and_then(|factor| FIRST_PAUSE_MS.checked_mul(factor))
                .unwrap_or(LONGEST_SLEEP_MS)
                .min(LONGEST_SLEEP_MS),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::capability::ServerError;

    const IDLE: Outlook = Outlook {
        pending: false,
        due_in_ms: None,
    };

    fn pending() -> Outlook {
        Outlook {
            pending: true,
            ..IDLE
        }
    }

    fn due_in(ms: u64) -> Outlook {
        Outlook {
            due_in_ms: Some(ms),
            ..IDLE
        }
    }

    /// Rounds in the same outlook whose claims find nothing.
    fn fruitless_rounds(
        pace: &mut Pace,
        outlook: &Outlook,
        rung: bool,
        rounds: usize,
    ) -> Vec<Step> {
        (0..rounds)
            .map(|_| {
                let step = pace.step(outlook);
                if matches!(step, Step::Block(_)) {
                    pace.blocked(rung);
                }
                pace.claimed(false);
                step
            })
            .collect()
    }

    #[test]
    fn an_idle_queue_is_looked_at_at_the_longest_interval() {
        let mut pace = Pace::default();
        let steps = fruitless_rounds(&mut pace, &IDLE, false, 50);
        assert_eq!(steps, [Step::Block(LONGEST_SLEEP_MS); 50]);
    }

    #[test]
    fn a_deadline_bounds_the_sleep() {
        for (due, step) in [
            (0, Step::Pause(0)),
            (1, Step::Block(1)),
            (1_999, Step::Block(1_999)),
            (2_000, Step::Block(2_000)),
            // Far away, or a clock that was set back.
            (u64::MAX, Step::Block(2_000)),
        ] {
            assert_eq!(Pace::default().step(&due_in(due)), step);
        }
    }

    #[test]
    fn messages_that_cannot_be_claimed_do_not_make_it_spin() {
        let mut pace = Pace::default();
        let steps = fruitless_rounds(&mut pace, &pending(), true, 10);
        let pauses = [25, 50, 100, 200, 400, 800, 1_600, 2_000, 2_000];
        assert_eq!(steps[0], Step::Block(LONGEST_SLEEP_MS));
        assert_eq!(steps[1..], pauses.map(Step::Pause));
        pace.claimed(true);
        assert_eq!(pace.step(&pending()), Step::Block(LONGEST_SLEEP_MS));
    }

    #[test]
    fn a_lease_that_does_not_come_back_does_not_make_it_spin() {
        let mut pace = Pace::default();
        let steps = fruitless_rounds(&mut pace, &due_in(0), false, 10);
        let waits = [25, 50, 100, 200, 400, 800, 1_600, 2_000, 2_000];
        assert_eq!(steps[0], Step::Pause(0));
        assert_eq!(steps[1..], waits.map(Step::Block));
    }

    #[test]
    fn leases_that_are_renewed_again_and_again_slow_it_down() {
        let mut pace = Pace::default();
        let steps = fruitless_rounds(&mut pace, &due_in(500), false, 100);
        assert_eq!(steps[..6], [Step::Block(500); 6]);
        assert_eq!(steps[20..], [Step::Block(LONGEST_SLEEP_MS); 80]);
        assert_eq!(pace.step(&IDLE), Step::Block(LONGEST_SLEEP_MS));
        assert_eq!(pace.step(&due_in(500)), Step::Block(500), "as new");
    }

    /// Another process is always quicker: every push wakes us for nothing, and nothing is left.
    #[test]
    fn rivals_do_not_slow_it_down() {
        let mut pace = Pace::default();
        let steps = fruitless_rounds(&mut pace, &IDLE, true, 50);
        assert_eq!(steps, [Step::Block(LONGEST_SLEEP_MS); 50]);
    }

    #[test]
    fn pauses_do_not_overflow() {
        let mut pace = Pace {
            fruitless: u32::MAX,
            failures: u32::MAX,
            ..Pace::default()
        };
        assert_eq!(pace.step(&pending()), Step::Pause(LONGEST_SLEEP_MS));
        pace.claimed(false);
        assert!(!pace.failed(&RedisError::Timeout));
        assert_eq!(pace.polls, MAX_POLLS_AFTER_LOSS);
    }

    fn polls_after(pace: &mut Pace, error: &RedisError) -> u32 {
        pace.failed(error);
        let mut polls = 0;
        while let Some(pause) = pace.poll() {
            assert_eq!(pause, POLL_INTERVAL_MS);
            pace.claimed(false);
            polls += 1;
        }
        polls
    }

    #[test]
    fn a_lost_connection_is_dialled_at_once_and_then_more_and_more_seldom() {
        let mut pace = Pace::default();
        let lost = RedisError::Unknown("cut".into());
        let polls: Vec<u32> = (0..7).map(|_| polls_after(&mut pace, &lost)).collect();
        assert_eq!(polls, [0, 1, 2, 4, 8, 8, 8]);
        pace.blocked(false);
        assert_eq!(polls_after(&mut pace, &lost), 0, "as new");
    }

    #[test]
    fn an_error_that_passes_is_no_refusal() {
        let moving = RedisError::Server(ServerError::from_line("TRYAGAIN the slot moves"));
        let mut pace = Pace::default();
        assert!(!pace.failed(&moving));
        assert_eq!(pace.poll(), None, "tried again at once");
    }

    #[test]
    fn a_refusal_is_reported_once_and_tried_again_after_at_most_a_minute() {
        let refused = RedisError::Server(ServerError::from_line("NOPERM no"));
        let mut pace = Pace::default();
        assert!(pace.failed(&refused));
        assert!(!pace.failed(&refused));
        let mut pace = Pace::default();
        let polls: Vec<u32> = (0..9).map(|_| polls_after(&mut pace, &refused)).collect();
        assert_eq!(polls, [2, 4, 8, 16, 32, 64, 120, 120, 120]);
        assert_eq!(pace.step(&IDLE), Step::Block(LONGEST_SLEEP_MS));
        pace.blocked(true);
        assert!(pace.failed(&refused), "news again");
    }
}
