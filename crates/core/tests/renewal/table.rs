//! Many renewals: invariants 19 to 24.

use leaseline_core::renewal::{Action, Failure, First, Lost, Settings, Start, Table, Token};
use proptest::prelude::*;

use crate::history::{begun, history, requests, tokens};
use crate::play::{Play, Step, TOKENS, steps};

pub(crate) fn start(token: u64) -> Start {
    Start {
        token: Token(token),
        lease_ms: 30_000,
        interval_ms: None,
        first: First::EndsIn(0),
        align_ms: 0,
        longest_ms: None,
    }
}

pub(crate) fn table() -> Table {
    Table::new(Settings::default(), 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn each_answer_is_that_of_the_model(steps in steps()) {
        let mut play = Play::new();
        for step in steps {
            play.step(step);
        }
    }
}

proptest! {
    #[test]
    fn invariant_19_one_request_at_a_time_runs_for_a_lease(history in history()) {
        for token in tokens() {
            let requests = requests(&history, token);
            for pair in requests.windows(2) {
                prop_assert!(pair[0].1.is_some_and(|end| end < pair[1].0), "{:?}", pair);
            }
        }
    }

    #[test]
    fn invariant_20_a_request_that_never_ends_delays_no_other(stuck in 1..50_u64) {
        let mut table = table();
        for token in 0..stuck {
            table.start(0, &start(token));
        }
        prop_assert_eq!(table.poll(10, 1_000).len() as u64, stuck);
        table.start(10, &start(1_000));
        let mut due = 20;
        for _ in 0..10 {
            prop_assert_eq!(table.next_due_ms(), Some(due));
            let token = Token(1_000);
            prop_assert_eq!(table.poll(due, 9), [Action::Extend { token, lease_ms: 30_000 }]);
            table.finished(due, token, Ok(()));
            due += 10_000;
        }
    }

    /// The original forgets them all, and begins anew.
    #[test]
    fn invariant_23_after_a_crash_all_renewals_go_on(steps in steps()) {
        let mut play = Play::new();
        for step in steps {
            play.step(step);
        }
        play.step(Step::Recover);
        play.step(Step::Pass(60_000));
        let before = play.moments.len();
        play.step(Step::Poll(100));
        for token in tokens() {
            let active = play.moments[before - 1].active.contains(&token);
            prop_assert_eq!(begun(&play.moments[before..], token), usize::from(active));
        }
        play.step(Step::Start(TOKENS, 30_000));
    }

    #[test]
    fn invariant_24_the_most_recent_stops_are_remembered(tokens in prop::collection::vec(0..3_000_u64, 0..4_000)) {
        let mut table = table();
        for token in &tokens {
            table.stop(0, Token(*token), false);
            prop_assert!(table.remembered() <= 1_024);
        }
        let mut recent = std::collections::BTreeSet::new();
        for token in tokens.iter().rev() {
            if recent.len() == 1_024 {
                break;
            }
            recent.insert(*token);
        }
        prop_assert_eq!(table.remembered(), recent.len());
        for token in recent {
            prop_assert!(table.is_remembered(Token(token)));
        }
    }

    /// A batch is what is due together, the earliest first.
    #[test]
    fn due_renewals_are_given_out_together_and_in_order(count in 1..200_u64, max in 1..50_usize) {
        let mut table = table();
        for token in 0..count {
            table.start(token, &start(token));
        }
        let mut given = Vec::new();
        loop {
            let actions = table.poll(1_000, max);
            if actions.is_empty() { break }
            prop_assert!(actions.len() <= max);
            for action in actions {
                let Action::Extend { token, .. } = action else { panic!("{action:?}") };
                given.push(token.0);
            }
        }
        prop_assert_eq!(given, (0..count).collect::<Vec<_>>());
    }
}

#[test]
fn a_refused_extension_is_told_to_the_owner() {
    let mut table = table();
    table.start(0, &start(1));
    table.poll(10, 1);
    let lost = table.finished(11, Token(1), Err(Failure::Gone));
    let (token, why) = (Token(1), Lost::Refused);
    assert_eq!(lost, Some(Action::Lost { token, why }));
    assert_eq!(table.next_due_ms(), None);
}

#[test]
fn a_worker_that_died_loses_nothing() {
    let mut table = table();
    for token in 0..3 {
        table.start(0, &start(token));
    }
    assert_eq!(table.poll(10, 2).len(), 2);
    table.stop(11, Token(0), true);
    assert_eq!(table.recover(50), [Action::Stopped { token: Token(0) }]);
    assert_eq!(table.poll(50, 9).len(), 2);
}
