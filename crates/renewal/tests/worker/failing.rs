//! What fails: invariants 32 to 37.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseline_core::ErrorKind;
use leaseline_renewal::{Extended, Failure, Lost, Outcome, Stopped, Terms};
use proptest::prelude::*;
use tokio::time::{Instant, timeout};

use crate::world::*;

fn passing() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        Just(Err(Failure::Connection)),
        Just(Err(Failure::Transient)),
        Just(Err(Failure::Unexpected)),
        prop::option::of(0..20_000_u64).prop_map(|hint| Err(Failure::Throttled(hint))),
    ]
}

fn failure() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        passing(),
        Just(Err(Failure::Connection)),
        Just(Err(Failure::Gone)),
        Just(REFUSED)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn invariant_32_after_a_refusal_no_request_is_made_and_the_owner_is_told(
        good in 0..4_usize,
        gone in any::<bool>(),
    ) {
        paused(async {
            let refusal = if gone { Err(Failure::Gone) } else { REFUSED };
            let mut answers = vec![Answer::Now(Ok(())); good];
            answers.push(Answer::Now(refusal));
            let world = World::new(answers);
            let told = Arc::new(Mutex::new(Vec::new()));
            let lease = world.lease("a").on_lost({
                let told = Arc::clone(&told);
                move |why| told.lock().unwrap().push(why)
            });
            lease.start().await.unwrap();
            assert_eq!(lease.lost().await, Lost::Refused);
            pass(100_000).await;
            assert_eq!(world.server.times().len(), good + 1);
            assert_eq!(*told.lock().unwrap(), [Lost::Refused]);
            let began = Instant::now();
            assert_eq!(lease.stop().await, Ok(Stopped::Done));
            assert_eq!(began.elapsed(), Duration::ZERO);
        });
    }

    #[test]
    fn invariant_33_what_may_pass_never_ends_a_renewal(failures in prop::collection::vec(passing(), 1..60)) {
        paused(async {
            let count = failures.len();
            let world = World::new(failures.into_iter().map(Answer::Now));
            let lease = world.lease("a");
            lease.start().await.unwrap();
            // The interval is the longest delay.
            pass(10_000 * (count as u64 + 1) + 1).await;
            assert!(world.server.times().len() > count);
            assert!(timeout(Duration::from_secs(1), lease.lost()).await.is_err());
            assert_eq!(world.renewer.worker().metrics().counts.active, 1);
        });
    }

    /// The answer to a request that a stop has waited for in vain, or has waited for.
    #[test]
    fn invariant_34_what_ends_after_the_stop_changes_nothing(
        outcome in prop_oneof![failure(), Just(Ok(()))],
        request in 1..9_000_u64,
    ) {
        paused(async {
            let world = World::new([Answer::After(request + 1, outcome)]);
            let told = Arc::new(Mutex::new(Vec::new()));
            let lease = world.lease("a").on_lost({
                let told = Arc::clone(&told);
                move |why| told.lock().unwrap().push(why)
            });
            lease.start().await.unwrap();
            pass(10_001).await;
            lease.stop().await.unwrap();
            assert!(timeout(Duration::from_secs(100), lease.lost()).await.is_err());
            assert_eq!(*told.lock().unwrap(), []);
            assert_eq!(world.server.times(), [10_000]);
            assert_eq!(world.renewer.worker().metrics().counts.active, 0);
        });
    }

    #[test]
    fn invariant_35_follow_ups_are_sent_one_to_three_times(failures in prop::collection::vec(failure(), 0..4)) {
        paused(async {
            let world = World::new(failures.iter().copied().map(Answer::Now));
            let lease = world.lease("a");
            let began = Instant::now();
            drop(lease.extend(5.0).await);
            let (mut requests, mut slept) = (1, 0);
            for failure in &failures {
                let delay = match failure {
                    Err(Failure::Connection) => 100,
                    Err(Failure::Throttled(Some(hint))) => (*hint).max(1_000),
                    _ => break,
                };
                if requests == 3 { break }
                requests += 1;
                slept += delay;
            }
            assert_eq!(world.server.times().len(), requests);
            assert_eq!(began.elapsed(), Duration::from_millis(slept));
        });
    }

    #[test]
    fn invariant_36_that_a_lease_is_gone_is_an_outcome_or_an_error(lost in 0..3_usize, seconds in 0..100_u32) {
        paused(async {
            let seconds = f64::from(seconds);
            let answers = || [Answer::Now(LOST)].repeat(lost).into_iter().chain([Answer::Now(Err(Failure::Gone))]);
            let world = World::new(answers());
            let lease = world.lease("a");
            assert_eq!(lease.extend(seconds).await, Ok(Extended::Gone));
            world.server.answer(answers());
            let error = world.renewer.extend(&"a", seconds).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Server);
        });
    }

    /// A lost connection would be tried again after 100 ms, a throttle after its hint.
    #[test]
    fn invariant_37_a_renewal_has_no_follow_ups(failures in prop::collection::vec(passing(), 1..10)) {
        paused(async {
            let count = failures.len();
            let world = World::new(failures.into_iter().map(Answer::Now));
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(10_000 * (count as u64 + 1) + 1).await;
            let times = world.server.times();
            for (at, pair) in times.windows(2).enumerate() {
                assert!(pair[1] - pair[0] >= 1_000, "{at}: {times:?}");
            }
            assert_eq!(world.renewer.worker().metrics().requests, times.len() as u64);
        });
    }
}

/// Each bad row of the rule for durations (§3).
#[tokio::test(start_paused = true)]
async fn bad_durations_are_refused_before_anything_is_sent() {
    let world = World::new([]);
    let lease = world.lease("a");
    for (seconds, text) in [
        (f64::NAN, "must be finite"),
        (f64::INFINITY, "must be finite"),
        (f64::NEG_INFINITY, "must be finite"),
        (-1.0, "must be non-negative"),
        (-0.5, "must be non-negative"),
        (3600.0001, "cannot exceed 3600 seconds"),
        (3600.9, "cannot exceed 3600 seconds"),
        (3601.0, "cannot exceed 3600 seconds"),
        (0.5, "must be at least 1 second or exactly 0"),
        (0.999, "must be at least 1 second or exactly 0"),
    ] {
        for error in [
            Terms::of_seconds(Some(seconds)).unwrap_err(),
            lease.extend(seconds).await.unwrap_err(),
            world.renewer.extend(&"a", seconds).await.unwrap_err(),
        ] {
            assert_eq!(error.kind, ErrorKind::InvalidArgument, "{seconds}");
            assert!(error.message.contains(text), "{seconds}: {error}");
        }
    }
    // 0 gives a lease up, and is no lease to renew.
    let error = Terms::of_seconds(Some(0.0)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidArgument);
    assert!(
        error
            .message
            .contains("must be positive for automatic renewal")
    );
    assert_eq!(world.server.times(), Vec::<u64>::new());
    assert_eq!(lease.extend(0.0).await, Ok(Extended::Done));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_panics_is_tried_again() {
    let world = World::new([Answer::Panic]);
    let lease = world.lease("a");
    lease.start().await.unwrap();
    pass(14_000).await;
    assert_eq!(world.server.times(), [10_000, 13_000]);
    assert_eq!(world.renewer.worker().metrics().counts.unexpected, 1);
}

#[tokio::test(start_paused = true)]
async fn hazard_11_the_longest_time_ends_it_and_the_owner_is_told() {
    let world = World::new([]);
    let terms = terms().longest(Some(Duration::from_secs(45)));
    let lease = world.renewer.renewal("a", terms);
    lease.start().await.unwrap();
    let began = Instant::now();
    assert_eq!(lease.lost().await, Lost::LongestTime);
    assert_eq!(began.elapsed(), Duration::from_secs(45));
    let begun = world.server.begun.lock().unwrap().clone();
    assert_eq!(begun, [(10_000, "a", 30), (20_000, "a", 25)]);
}
