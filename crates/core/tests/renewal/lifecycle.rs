//! What a delivery can rely on when its handler has ended: invariants 38 to 41 on the table. The
//! client's suite has them with handlers.

use leaseline_core::renewal::{Started, Stopping, Token};
use proptest::prelude::*;

use crate::history::{
    Event, Moment, begun, history, requests, rest_of_life, runs_before, stop_ends, stops,
};

/// The update that a handler asked for when its renewal was stopped.
const ASKED_MS: u64 = 1;

/// The last update that the server is sent in one life of a renewal, if a handler asks for
/// [`ASKED_MS`] when its waited stop, at `stop`, is complete.
fn last_update(history: &[Moment], token: Token, stop: usize) -> Option<u64> {
    let asked = stop_ends(history, token, stop)?;
    let mut last = None;
    let life = rest_of_life(history, token, stop);
    for (at, moment) in life.iter().enumerate() {
        match moment.event {
            Event::Extend(of, lease_ms) if of == token => last = Some(lease_ms),
            _ if stop + at == asked => last = Some(ASKED_MS),
            _ => {}
        }
    }
    last
}

proptest! {
    /// That one runs already, and is cancelled.
    #[test]
    fn invariant_38_after_a_success_at_most_one_request_reaches_the_server(history in history()) {
        for (stop, token, wait) in stops(&history) {
            if wait { continue }
            let more = begun(rest_of_life(&history, token, stop), token);
            let running = usize::from(runs_before(&history, token, stop));
            prop_assert!(more == 0 && running <= 1);
            if let Event::Stop(_, _, Stopping::Cancel) = history[stop].event {
                prop_assert_eq!(running, 1);
            }
        }
    }

    #[test]
    fn invariant_39_the_update_that_a_handler_asked_for_is_the_last(history in history()) {
        for (stop, token, wait) in stops(&history) {
            if !wait { continue }
            if let Some(last) = last_update(&history, token, stop) {
                prop_assert_eq!(last, ASKED_MS);
            }
        }
    }

    #[test]
    fn invariant_40_after_a_handoff_no_update_is_made(history in history()) {
        for (stop, token, wait) in stops(&history) {
            let Some(left) = stop_ends(&history, token, stop).filter(|_| wait) else { continue };
            for (begin, end) in requests(&history, token) {
                let of_this_life = begin < left;
                prop_assert!(!of_this_life || end.is_some_and(|end| end <= left));
            }
            prop_assert_eq!(begun(rest_of_life(&history, token, left), token), 0);
        }
    }

    #[test]
    fn invariant_41_after_an_error_no_request_begins(history in history()) {
        for (stop, token, wait) in stops(&history) {
            if !wait {
                let life = rest_of_life(&history, token, stop);
                prop_assert!(life.iter().all(|moment| !moment.active.contains(&token)));
                prop_assert_eq!(begun(life, token), 0);
            }
        }
    }
}

/// The histories are none in which nothing happens.
#[test]
fn histories_have_all_that_the_invariants_speak_of() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = [0_usize; 9];
    for _ in 0..100 {
        for moment in history().new_tree(&mut runner).unwrap().current() {
            let what = match moment.event {
                Event::Start(_, _, Started::Scheduled) => 0,
                Event::Start(_, _, Started::StoppedBefore) => 1,
                Event::Start(..) => 2,
                Event::Stop(_, _, Stopping::Waiting) => 3,
                Event::Stop(_, _, Stopping::Cancel) => 4,
                Event::StopTimedOut(_) => 5,
                Event::Stopped(_) => 6,
                Event::Extend(..) => 7,
                Event::Ended(_, _, Some(_)) => 8,
                _ => continue,
            };
            seen[what] += 1;
        }
    }
    assert!(seen.iter().all(|times| *times >= 20), "{seen:?}");
}
