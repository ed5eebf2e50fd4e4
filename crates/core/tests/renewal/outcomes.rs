//! What fails, and what comes of it: invariants 32 to 37.

use leaseline_core::renewal::{Action, Failure, FollowUp, Lost, Settings, Stopping, Token};
use proptest::prelude::*;

use crate::history::{Event, begun, history, rest_of_life, runs_before};
use crate::table::{start, table};

#[test]
fn statuses_are_classified_as_in_the_original() {
    for (status, want) in [
        (302, Failure::Transient),
        (400, Failure::Refused),
        (404, Failure::Gone),
        (408, Failure::Transient),
        (409, Failure::Refused),
        (410, Failure::Gone),
        (429, Failure::Throttled(Some(5))),
        (499, Failure::Refused),
        (500, Failure::Transient),
        (503, Failure::Transient),
    ] {
        assert_eq!(Failure::from_status(status, Some(5)), want, "{status}");
    }
}

/// Failures after which a renewal goes on.
pub(crate) fn passing() -> impl Strategy<Value = Failure> {
    prop_oneof![
        Just(Failure::Connection),
        Just(Failure::Transient),
        Just(Failure::Unexpected),
        prop::option::of(0..100_000_u64).prop_map(Failure::Throttled),
    ]
}

fn failure() -> impl Strategy<Value = Failure> {
    prop_oneof![
        Just(Failure::Gone),
        Just(Failure::Refused),
        Just(Failure::Connection),
        Just(Failure::Transient),
        Just(Failure::Unexpected),
        prop::option::of(0..200_000_u64).prop_map(Failure::Throttled),
    ]
}

proptest! {
    #[test]
    fn invariant_32_after_a_refusal_no_request_is_made(history in history()) {
        for (at, moment) in history.iter().enumerate() {
            let Event::Ended(token, outcome, Some(Action::Lost { why, .. })) = moment.event else { continue };
            prop_assert!(matches!(outcome, Err(Failure::Refused | Failure::Gone)));
            prop_assert_eq!(why, Lost::Refused);
            let life = rest_of_life(&history, token, at);
            prop_assert_eq!(begun(life, token), 0);
            for later in life {
                if let Event::Stop(of, _, stopping) = later.event && of == token {
                    prop_assert_eq!(stopping, Stopping::Done);
                }
            }
        }
    }

    #[test]
    fn invariant_33_what_may_pass_never_ends_a_renewal(
        failures in prop::collection::vec(passing(), 1..200),
        late in 0..100_000_u64,
    ) {
        let mut table = table();
        table.start(0, &start(1));
        for failure in failures {
            let due = table.next_due_ms().unwrap();
            prop_assert_eq!(table.poll(due + late, 9).len(), 1);
            prop_assert_eq!(table.finished(due + late, Token(1), Err(failure)), None);
            prop_assert!(table.is_active(Token(1)));
        }
    }

    /// Ours tells nothing of a refusal then, where the original has an event.
    #[test]
    fn invariant_34_what_ends_too_late_changes_nothing(history in history()) {
        for (at, moment) in history.iter().enumerate().skip(1) {
            let Event::Ended(token, _, action) = moment.event else { continue };
            let before = &history[at - 1];
            if !before.active.contains(&token) {
                let lost = matches!(action, Some(Action::Lost { .. }));
                prop_assert!(!lost);
                prop_assert_eq!(&moment.active, &before.active);
            }
            if !runs_before(&history, token, at) {
                prop_assert_eq!(action, None);
                prop_assert_eq!(moment.next_due_ms, before.next_due_ms);
                prop_assert_eq!(&moment.counts, &before.counts);
            }
        }
    }

    #[test]
    fn invariant_35_follow_ups_are_sent_one_to_three_times(
        failures in prop::collection::vec(failure(), 1..10),
    ) {
        let mut follow_up = FollowUp::new(&Settings::default());
        let mut requests = 1;
        for failure in failures {
            let Some(delay) = follow_up.failed(failure) else { break };
            requests += 1;
            match failure {
                Failure::Connection => prop_assert_eq!(delay, 100),
                // The original has no upper bound.
                Failure::Throttled(Some(hint)) => prop_assert_eq!(delay, hint.clamp(1_000, 60_000)),
                other => prop_assert!(false, "{:?} is not tried again", other),
            }
        }
        prop_assert!(requests <= 3);
    }

    /// That a lease is gone is never tried again. What it is for the caller, an outcome or an error,
    /// is the worker's.
    #[test]
    fn invariant_36_that_a_lease_is_gone_is_final(failures in 0..3_u32) {
        let mut follow_up = FollowUp::new(&Settings::default());
        for _ in 0..failures.min(2) {
            prop_assert!(follow_up.failed(Failure::Connection).is_some());
        }
        prop_assert_eq!(follow_up.failed(Failure::Gone), None);
    }

    /// What a follow-up would send again after 100 ms waits for the schedule.
    #[test]
    fn invariant_37_a_renewal_has_no_follow_ups(failures in prop::collection::vec(passing(), 1..50)) {
        let mut table = table();
        table.start(0, &start(1));
        for failure in failures {
            let due = table.next_due_ms().unwrap();
            prop_assert_eq!(table.poll(due, 9).len(), 1);
            table.finished(due, Token(1), Err(failure));
            prop_assert_eq!(table.poll(due + 999, 9), []);
        }
    }
}
