//! Start and stop: invariants 11 to 18.

use std::collections::BTreeSet;

use leaseline_core::renewal::{Action, Failure, Started, Stopping, Token};
use proptest::prelude::*;

use crate::history::{Event, Moment, begun, history, requests, rest_of_life, stop_ends, stops};
use crate::table::{start, table};

proptest! {
    /// However many requests are never answered.
    #[test]
    fn invariant_11_a_start_is_answered_whatever_is_in_flight(stuck in 0..50_u64, later in 0..90_000_u64) {
        let mut table = table();
        for token in 0..stuck {
            table.start(0, &start(token));
        }
        table.poll(10, 1_000);
        prop_assert_eq!(table.start(10 + later, &start(1_000)), Started::Scheduled);
        prop_assert_eq!(table.counts().in_flight, stuck);
    }

    #[test]
    fn invariant_12_what_was_started_and_neither_stopped_nor_refused_is_active(history in history()) {
        let mut wanted = BTreeSet::new();
        for moment in &history {
            match &moment.event {
                Event::Start(token, _, Started::Scheduled) => { wanted.insert(*token); }
                Event::Stop(token, ..) | Event::Ended(token, _, Some(Action::Lost { .. })) => {
                    wanted.remove(token);
                }
                _ => {}
            }
            prop_assert_eq!(&moment.active, &wanted);
        }
    }

    #[test]
    fn invariant_13_after_a_waited_stop_nothing_runs_or_begins(history in history()) {
        for (stop, token, wait) in stops(&history) {
            if !wait { continue }
            let Some(end) = stop_ends(&history, token, stop) else { continue };
            prop_assert_eq!(begun(rest_of_life(&history, token, stop), token), 0);
            for (begin, ends) in requests(&history, token) {
                prop_assert!(begin > end || ends.is_some_and(|ends| ends <= end), "{} runs on", begin);
            }
        }
    }

    #[test]
    fn invariant_14_a_waited_stop_ends_in_five_seconds(history in history()) {
        for (stop, token, wait) in stops(&history) {
            let limit = history[stop].now_ms + 5_000;
            let over = |moment: &Moment| moment.event == Event::Polled && moment.now_ms >= limit;
            if let Some(over) = history[stop..].iter().position(over) && wait {
                let end = stop_ends(&history, token, stop);
                prop_assert!(end.is_some_and(|end| end <= stop + over));
            }
        }
        let told = |moment: &&Moment| matches!(moment.event, Event::StopTimedOut(_));
        let told = history.iter().filter(told).count() as u64;
        prop_assert_eq!(told, history.last().map_or(0, |last| last.counts.stop_timeouts));
    }

    #[test]
    fn invariant_15_after_a_stop_that_does_not_wait_nothing_begins(history in history()) {
        for (stop, token, wait) in stops(&history) {
            if !wait {
                prop_assert_eq!(begun(rest_of_life(&history, token, stop), token), 0);
            }
        }
    }

    #[test]
    fn invariant_16_a_stop_that_overtakes_its_start_wins(
        others in 0..1_024_u64,
        wait in any::<bool>(),
        polls in prop::collection::vec(0..1_000_000_u64, 0..9),
    ) {
        let mut table = table();
        table.stop(0, Token(0), wait);
        for other in 0..others.min(1_023) {
            table.stop(0, Token(other + 1), true);
        }
        prop_assert_eq!(table.start(1, &start(0)), Started::StoppedBefore);
        for poll in polls {
            prop_assert_eq!(table.poll(poll, 9), []);
        }
        // One stop is for one start.
        prop_assert_eq!(table.start(1_000_000, &start(0)), Started::Scheduled);
    }

    #[test]
    fn invariant_17_a_stop_of_what_does_not_run_is_done_at_once(history in history()) {
        let mut waiting = BTreeSet::new();
        for (at, moment) in history.iter().enumerate() {
            match moment.event {
                Event::Stop(token, _, stopping) => {
                    let active = at > 0 && history[at - 1].active.contains(&token);
                    if !active && !waiting.contains(&token) {
                        prop_assert_eq!(stopping, Stopping::Done);
                    }
                    if stopping == Stopping::Waiting {
                        waiting.insert(token);
                    }
                }
                Event::Stopped(token) | Event::StopTimedOut(token) | Event::Ended(token, ..) => {
                    waiting.remove(&token);
                }
                _ => {}
            }
        }
    }

    /// The table tells once for all of them; the worker's `Notice` reaches each.
    #[test]
    fn invariant_18_all_that_wait_for_a_stop_are_told_once(history in history()) {
        let mut waiting = BTreeSet::new();
        for moment in &history {
            match moment.event {
                Event::Stop(token, _, Stopping::Waiting) => { waiting.insert(token); }
                Event::Stopped(token) | Event::StopTimedOut(token)
                | Event::Ended(token, _, Some(Action::Stopped { .. })) => {
                    prop_assert!(waiting.remove(&token), "nobody waits for {:?}", token);
                }
                Event::Start(token, _, started) if waiting.contains(&token) => {
                    prop_assert_eq!(started, Started::Duplicate);
                }
                _ => {}
            }
        }
    }
}

#[test]
fn a_late_end_of_a_stop_that_timed_out_is_nothing() {
    let mut table = table();
    table.start(0, &start(1));
    table.poll(10, 1);
    assert_eq!(table.stop(10, Token(1), true), Stopping::Waiting);
    assert_eq!(table.next_due_ms(), Some(5_010));
    assert_eq!(table.poll(5_009, 1), []);
    assert_eq!(
        table.poll(5_010, 1),
        [Action::StopTimedOut { token: Token(1) }]
    );
    assert_eq!(table.counts().stop_timeouts, 1);
    assert_eq!(
        table.finished(99_999, Token(1), Err(Failure::Refused)),
        None
    );
}
