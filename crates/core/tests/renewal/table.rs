use leaseline_core::renewal::{
    Action, Failure, First, Lost, Settings, Start, Started, Stopping, Table, Token,
};
use proptest::prelude::*;

use crate::play::{Play, steps};

fn start(token: u64) -> Start {
    Start {
        token: Token(token),
        lease_ms: 30_000,
        interval_ms: None,
        first: First::EndsIn(0),
        align_ms: 0,
        longest_ms: None,
    }
}

fn table() -> Table {
    Table::new(Settings::default(), 0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// 12, 13, 15, 18, 19, 32, 33 and 34, after every step of a random sequence.
    #[test]
    fn invariants_12_to_19_and_32_to_34_hold_at_every_step(steps in steps()) {
        let mut play = Play::new();
        for step in steps {
            play.step(step);
        }
    }
}

proptest! {
    #[test]
    fn invariant_14_a_waited_stop_ends_in_five_seconds(late in 0..20_000_u64) {
        let mut table = table();
        table.start(0, &start(1));
        table.poll(10, 1);
        prop_assert_eq!(table.stop(10, Token(1), true), Stopping::Waiting);
        prop_assert_eq!(table.next_due_ms(), Some(5_010));
        let actions = table.poll(10 + late, 1);
        if late < 5_000 {
            prop_assert_eq!(actions, []);
        } else {
            prop_assert_eq!(actions, [Action::StopTimedOut { token: Token(1) }]);
            prop_assert_eq!(table.counts().stop_timeouts, 1);
            prop_assert_eq!(table.finished(99_999, Token(1), Ok(())), None);
        }
    }

    #[test]
    fn invariant_16_a_stop_that_overtakes_its_start_wins(others in 0..1_024_u64) {
        let mut table = table();
        table.stop(0, Token(0), false);
        for other in 0..others.min(1_023) {
            table.stop(0, Token(other + 1), true);
        }
        prop_assert_eq!(table.start(1, &start(0)), Started::StoppedBefore);
        prop_assert_eq!(table.poll(1_000_000, 9), []);
        // One stop is for one start.
        prop_assert_eq!(table.start(1, &start(0)), Started::Scheduled);
    }

    #[test]
    fn invariant_17_a_stop_of_what_does_not_run_is_done_at_once(wait in any::<bool>(), refused in any::<bool>()) {
        let mut table = table();
        if refused {
            table.start(0, &start(1));
            table.poll(10, 1);
            table.finished(11, Token(1), Err(Failure::Refused));
        }
        prop_assert_eq!(table.stop(12, Token(1), wait), Stopping::Done);
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

    /// 31: the table is told no other time than the host's, and only differences count.
    #[test]
    fn invariant_31_only_differences_of_time_count(offset in 0..1_u64 << 40) {
        let mut table = table();
        table.start(offset, &start(1));
        prop_assert_eq!(table.next_due_ms(), Some(offset + 10));
        table.poll(offset + 10, 1);
        table.finished(offset + 20, Token(1), Ok(()));
        prop_assert_eq!(table.next_due_ms(), Some(offset + 10_020));
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
