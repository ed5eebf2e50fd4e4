use leaseline_core::renewal::{Failure, FollowUp, Settings};
use proptest::prelude::*;

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
}
