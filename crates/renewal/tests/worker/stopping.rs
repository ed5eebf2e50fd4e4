use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use leaseline_renewal::{Begun, Stopped};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::starting::futures_now;
use crate::timing::paused;
use crate::world::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn invariant_13_after_a_waited_stop_nothing_runs_or_begins(
        request in 0..12_000_u64,
        stop in 0..30_000_u64,
    ) {
        paused(async move {
            let world = World::new([Answer::After(request, Ok(())); 9]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(stop).await;
            let stopped = lease.stop().await.unwrap();
            let begun = world.server.times().len();
            if stopped == Stopped::Done {
                assert_eq!(world.server.running.load(Ordering::SeqCst), 0);
            }
            pass(100_000).await;
            assert_eq!(world.server.times().len(), begun);
            assert_eq!(world.server.running.load(Ordering::SeqCst), 0);
        });
    }
}

#[tokio::test(start_paused = true)]
async fn a_waited_stop_lets_the_request_in_flight_finish() {
    let world = World::new([Answer::After(400, Ok(()))]);
    let lease = world.lease("a");
    lease.start().await.unwrap();
    pass(10_100).await;
    let began = Instant::now();
    assert_eq!(lease.stop().await, Ok(Stopped::Done));
    assert_eq!(began.elapsed(), Duration::from_millis(300));
    assert_eq!(world.server.ended.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn invariant_14_a_waited_stop_takes_five_seconds_at_most() {
    let world = World::new([Answer::Never]);
    let lease = world.lease("a");
    lease.start().await.unwrap();
    pass(10_100).await;
    let began = Instant::now();
    assert_eq!(lease.stop().await, Ok(Stopped::TimedOut));
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    pass(10).await;
    assert_eq!(world.server.running.load(Ordering::SeqCst), 0, "cancelled");
    assert_eq!(world.renewer.worker().metrics().counts.stop_timeouts, 1);
    assert_eq!(
        lease.stop().await,
        Ok(Stopped::Done),
        "nothing is left to stop"
    );
}

#[tokio::test(start_paused = true)]
async fn a_second_concurrent_stop_waits_too() {
    let world = World::new([Answer::After(400, Ok(()))]);
    let lease = Arc::new(world.lease("a"));
    lease.start().await.unwrap();
    pass(10_100).await;
    let began = Instant::now();
    let other = tokio::spawn({
        let lease = Arc::clone(&lease);
        async move { lease.stop().await }
    });
    assert_eq!(lease.stop().await, Ok(Stopped::Done));
    assert_eq!(other.await.unwrap(), Ok(Stopped::Done));
    assert_eq!(began.elapsed(), Duration::from_millis(300));
}

#[tokio::test(start_paused = true)]
async fn invariant_6_a_stop_that_was_dropped_can_be_made_again() {
    let world = World::new([Answer::After(400, Ok(()))]);
    let lease = world.lease("a");
    lease.start().await.unwrap();
    pass(10_100).await;
    assert!(futures_now(Box::pin(lease.stop()).as_mut()).is_none());
    assert_eq!(lease.stop().await, Ok(Stopped::Done));
    assert_eq!(world.server.running.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn invariants_7_and_15_a_stop_that_does_not_wait_cancels() {
    let world = World::new([Answer::Never]);
    let (idle, busy) = (world.lease("idle"), world.lease("busy"));
    busy.start().await.unwrap();
    pass(5_000).await;
    idle.start().await.unwrap();
    pass(5_100).await;
    idle.stop_soon();
    busy.stop_soon();
    pass(10).await;
    assert_eq!(world.server.running.load(Ordering::SeqCst), 0);
    pass(100_000).await;
    assert_eq!(world.server.times(), [10_000]);
}

#[tokio::test(start_paused = true)]
async fn invariant_16_a_stop_during_the_start_wins() {
    let world = World::new([]);
    let lease = world.lease("a");
    let mut start = Box::pin(lease.start());
    assert!(futures_now(start.as_mut()).is_none());
    lease.stop_soon();
    assert_eq!(start.await, Ok(Begun::StoppedBefore));
    pass(100_000).await;
    assert_eq!(world.server.times(), Vec::<u64>::new());
}

#[tokio::test(start_paused = true)]
async fn dropping_a_renewal_stops_it() {
    let world = World::new([]);
    let lease = world.lease("a");
    lease.start().await.unwrap();
    drop(lease);
    pass(100_000).await;
    assert_eq!(world.server.times(), Vec::<u64>::new());
}
