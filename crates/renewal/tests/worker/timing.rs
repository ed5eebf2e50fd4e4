use std::time::Duration;

use leaseline_renewal::{Failure, Settings};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::world::*;

/// In a runtime whose clock moves on when everybody waits.
pub(crate) fn paused<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn invariants_28_29_and_30_requests_follow_the_ends_of_the_last(
        script in prop::collection::vec((0..9_000_u64, 0..4_u8), 1..12),
    ) {
        let outcome = |kind| match kind {
            0 => Err(Failure::Throttled(Some(7_000))),
            1 => Err(Failure::Connection),
            _ => Ok(()),
        };
        let answers = script.iter().map(|(ms, kind)| Answer::After(*ms, outcome(*kind)));
        let (begun, want) = paused(async {
            let world = World::new(answers);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            let mut want = vec![10_000];
            for (ms, kind) in &script {
                let delay = match kind { 0 => 7_000, 1 => 3_000, _ => 10_000 };
                want.push(want[want.len() - 1] + ms + delay);
            }
            pass(want[want.len() - 1] + 1).await;
            lease.stop().await.unwrap();
            (world.server.begun.lock().unwrap().clone(), want)
        });
        prop_assert_eq!(begun.iter().map(|begun| begun.0).collect::<Vec<_>>(), want);
        prop_assert!(begun.iter().all(|begun| begun.2 == 30));
    }
}

#[tokio::test(start_paused = true)]
async fn invariant_27_a_known_end_is_renewed_ten_seconds_before() {
    let world = World::new([]);
    let terms = terms().ends_in(Duration::from_secs(300));
    let lease = world.renewer.renewal("a", terms);
    lease.start().await.unwrap();
    pass(299_000).await;
    assert_eq!(world.server.times(), [290_000]);
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
async fn invariants_19_and_20_a_stuck_request_is_alone_and_delays_no_other() {
    let world = World::new([Answer::Never]);
    let (stuck, other) = (world.lease("stuck"), world.lease("other"));
    stuck.start().await.unwrap();
    pass(1).await;
    other.start().await.unwrap();
    pass(19_990).await;
    assert_eq!(world.server.times_of("stuck"), [10_000]);
    assert_eq!(world.server.times_of("other"), [10_001]);
    // The limit of a request ends it, and after the retry delay comes the next.
    pass(5_000).await;
    assert_eq!(world.server.times_of("stuck"), [10_000, 23_000]);
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
    lease.extend(0.5).await.unwrap_err();
    assert_eq!(world.server.times().len(), 3, "refused before it was sent");
}

#[tokio::test(start_paused = true)]
async fn invariant_36_that_a_lease_is_gone_is_an_outcome_or_an_error() {
    let gone = Answer::Now(Err(Failure::Gone));
    let world = World::new([gone, gone]);
    let lease = world.lease("a");
    assert_eq!(
        lease.extend(0.0).await,
        Ok(leaseline_renewal::Extended::Gone)
    );
    assert!(world.renewer.extend(&"a", 0.0).await.is_err());
}
