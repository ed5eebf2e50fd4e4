//! When requests are made: invariants 19, 20 and 27 to 31.

use std::time::Duration;

use leaseline_renewal::{Failure, Settings};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::world::*;

/// How long requests take, and how they end.
fn script() -> impl Strategy<Value = Vec<(u64, u8)>> {
    prop::collection::vec((0..9_000_u64, 0..4_u8), 1..12)
}

fn outcome(kind: u8) -> leaseline_renewal::Outcome {
    match kind {
        0 => Err(Failure::Throttled(Some(7_000))),
        1 => LOST,
        _ => Ok(()),
    }
}

/// Plays a script on one lease: when requests began and for how long, and when they had to.
fn play(script: &[(u64, u8)]) -> (Vec<(u64, &'static str, u64)>, Vec<u64>) {
    let answers = script
        .iter()
        .map(|(ms, kind)| Answer::After(*ms, outcome(*kind)));
    paused(async {
        let world = World::new(answers);
        let lease = world.lease("a");
        lease.start().await.unwrap();
        let mut want = vec![10_000];
        for (ms, kind) in script {
            let delay = match kind {
                0 => 7_000,
                1 => 3_000,
                _ => 10_000,
            };
            want.push(want[want.len() - 1] + ms + delay);
        }
        pass(want[want.len() - 1] + 1).await;
        lease.stop().await.unwrap();
        (world.server.begun.lock().unwrap().clone(), want)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn invariant_19_one_request_at_a_time_runs_for_a_lease(script in script()) {
        let longest = script.iter().map(|(ms, _)| *ms).max().unwrap_or(0);
        paused(async {
            let world = World::new(script.iter().map(|(ms, kind)| Answer::After(*ms, outcome(*kind))));
            let lease = world.lease("a");
            lease.start().await.unwrap();
            for _ in 0..100 {
                pass(longest / 7 + 500).await;
                let running = world.server.running.load(std::sync::atomic::Ordering::SeqCst);
                assert!(running <= 1, "{running} run");
            }
        });
    }

    #[test]
    fn invariant_20_a_stuck_request_delays_no_other(later in 1..9_000_u64) {
        paused(async {
            let world = World::new([Answer::Never]);
            let (stuck, other) = (world.lease("stuck"), world.lease("other"));
            stuck.start().await.unwrap();
            pass(later).await;
            other.start().await.unwrap();
            pass(19_990 - later).await;
            assert_eq!(world.server.times_of("stuck"), [10_000]);
            assert_eq!(world.server.times_of("other"), [10_000 + later]);
            // The limit of a request ends it, and after the retry delay comes the next.
            pass(3_020).await;
            assert_eq!(world.server.times_of("stuck"), [10_000, 23_000]);
        });
    }

    #[test]
    fn invariant_27_the_first_request_is_in_time(left in 0..400_u64, known in any::<bool>()) {
        paused(async {
            let world = World::new([]);
            let terms = if known { terms().ends_in(Duration::from_secs(left)) } else { terms() };
            let lease = world.renewer.renewal("a", terms);
            lease.start().await.unwrap();
            pass(400_000).await;
            let want = if known { (left * 1_000).saturating_sub(10_000).max(10) } else { 10_000 };
            assert_eq!(world.server.times()[0], want);
        });
    }

    #[test]
    fn invariant_28_a_request_follows_the_end_of_the_last_by_the_interval(
        script in prop::collection::vec((0..9_000_u64, Just(2_u8)), 1..12),
    ) {
        let (begun, want) = play(&script);
        prop_assert_eq!(begun.iter().map(|begun| begun.0).collect::<Vec<_>>(), want);
    }

    #[test]
    fn invariant_29_each_request_asks_for_the_whole_lease(script in script()) {
        let (begun, want) = play(&script);
        prop_assert_eq!(begun.len(), want.len());
        prop_assert!(begun.iter().all(|begun| begun.2 == 30));
    }

    #[test]
    fn invariant_30_the_delay_after_a_failure_is_three_seconds_or_the_hint(script in script()) {
        let (begun, want) = play(&script);
        prop_assert_eq!(begun.iter().map(|begun| begun.0).collect::<Vec<_>>(), want);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// The clock on the wall goes on by some milliseconds; that of the worker, which stands still for
    /// this test, alone counts.
    #[test]
    fn invariant_31_the_wall_clock_does_not_count(jump in 1..20_u64) {
        let times = paused(async {
            let world = World::new([]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            for _ in 0..3 {
                std::thread::sleep(Duration::from_millis(jump));
                pass(10_000).await;
            }
            pass(1).await;
            world.server.times()
        });
        prop_assert_eq!(times, [10_000, 20_000, 30_000]);
    }
}

#[tokio::test(start_paused = true)]
async fn hazard_3_a_short_first_lease_is_renewed_in_time() {
    let world = World::new([]);
    let terms = terms().granted(Duration::from_secs(5));
    let lease = world.renewer.renewal("a", terms);
    lease.start().await.unwrap();
    pass(4_000).await;
    assert_eq!(world.server.times(), [1_666]);
}

#[tokio::test(start_paused = true)]
async fn what_is_due_together_is_one_request() {
    let world = World::with(Settings::default(), 100, []);
    let mut leases = Vec::new();
    for _ in 0..250 {
        let lease = world
            .renewer
            .renewal("a", terms().early(Duration::from_secs(2)));
        lease.start().await.unwrap();
        leases.push(lease);
        pass(4).await;
    }
    pass(10_000).await;
    assert_eq!(world.server.times().len(), 250);
    assert_eq!(world.renewer.worker().metrics().requests, 3);
    let counts = world.renewer.worker().metrics().counts;
    assert_eq!(
        (counts.active, counts.extended, counts.in_flight),
        (250, 250, 0)
    );
    assert!(counts.lag_p99_ms() <= 1, "{counts:?}");
}

#[tokio::test(start_paused = true)]
async fn an_explicit_update_is_tried_three_times_at_most() {
    let world = World::new([Answer::Now(LOST); 3]);
    let lease = world.lease("a");
    let began = Instant::now();
    assert!(lease.extend(5.9).await.is_err());
    assert_eq!(began.elapsed().as_millis(), 200);
    assert_eq!(
        world.server.begun.lock().unwrap()[..],
        [(0, "a", 5), (100, "a", 5), (200, "a", 5)]
    );
}
