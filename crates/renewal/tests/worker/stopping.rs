//! Stops: invariants 4 to 7 and 13 to 18.

use std::sync::atomic::Ordering;
use std::time::Duration;

use leaseline_renewal::{Begun, Stopped};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::world::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn invariant_04_any_number_of_stops_sends_one(
        waits in prop::collection::vec(any::<bool>(), 1..8),
        running in any::<bool>(),
    ) {
        paused(async {
            let world = World::new([]);
            let lease = world.lease("a");
            if running {
                lease.start().await.unwrap();
            }
            // Nobody waits here, so the worker cannot take what is sent.
            lease.stop_soon();
            for wait in waits {
                if wait {
                    assert_eq!(at_once(Box::pin(lease.stop()).as_mut()), Some(Ok(Stopped::Done)));
                } else {
                    lease.stop_soon();
                }
            }
            let queued = world.renewer.worker().metrics().queued;
            assert_eq!(queued, u64::from(running));
        });
    }

    /// It sends nothing, and waits for the first one; in the original it returns at once.
    #[test]
    fn invariant_05_a_second_concurrent_stop_sends_nothing_and_waits(others in 1..6_usize, request in 1..4_000_u64) {
        paused(async {
            let world = World::new([Answer::After(request + 1, Ok(()))]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(10_001).await;
            let began = Instant::now();
            let mut stops: Vec<_> = (0..=others).map(|_| Box::pin(lease.stop())).collect();
            for stop in &mut stops {
                assert!(at_once(stop.as_mut()).is_none());
            }
            assert_eq!(world.renewer.worker().metrics().queued, 1);
            for stop in stops {
                assert_eq!(stop.await, Ok(Stopped::Done));
                assert!(began.elapsed() >= Duration::from_millis(request));
            }
        });
    }

    #[test]
    fn invariant_06_a_stop_that_was_dropped_can_be_made_again(drops in 1..5, between in 0..90_u64) {
        paused(async {
            let world = World::new([Answer::After(400, Ok(()))]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(10_001).await;
            for _ in 0..drops {
                assert!(at_once(Box::pin(lease.stop()).as_mut()).is_none());
                pass(between).await;
            }
            assert_eq!(lease.stop().await, Ok(Stopped::Done));
            assert_eq!(world.server.running.load(Ordering::SeqCst), 0);
            assert_eq!(world.server.ended.load(Ordering::SeqCst), 1);
        });
    }

    /// With no room for its command, too.
    #[test]
    fn invariant_07_a_stop_that_does_not_wait_always_closes(capacity in 1..4_usize, count in 1..6_usize) {
        paused(async {
            let mut settings = leaseline_renewal::Settings::default();
            settings.command_capacity = capacity;
            let world = World::with(settings, 1, []);
            let leases: Vec<_> = (0..count).map(|_| world.lease("a")).collect();
            for lease in &leases {
                lease.start().await.unwrap();
            }
            for lease in &leases {
                lease.stop_soon();
                assert!(lease.start().await.is_err());
                assert_eq!(at_once(Box::pin(lease.stop()).as_mut()), Some(Ok(Stopped::Done)));
            }
            pass(100_000).await;
            assert_eq!(world.server.times(), Vec::<u64>::new());
        });
    }

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

    #[test]
    fn invariant_14_a_waited_stop_takes_five_seconds_at_most(request in 1..20_000_u64, since in 1..9_000_u64) {
        paused(async move {
            let world = World::new([Answer::After(request, Ok(()))]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(10_000 + since).await;
            let began = Instant::now();
            let stopped = lease.stop().await;
            let took = u64::try_from(began.elapsed().as_millis()).unwrap();
            // A request has ten seconds by itself.
            let left = request.min(10_000).saturating_sub(since);
            if left < 5_000 {
                assert_eq!((stopped, took), (Ok(Stopped::Done), left));
            } else if left > 5_000 {
                assert_eq!((stopped, took), (Ok(Stopped::TimedOut), 5_000));
                pass(10).await;
                assert_eq!(world.server.running.load(Ordering::SeqCst), 0, "cancelled");
                assert_eq!(world.stop_timeouts(), 1);
            }
            assert_eq!(lease.stop().await, Ok(Stopped::Done), "nothing is left to stop");
        });
    }

    #[test]
    fn invariant_15_after_a_stop_that_does_not_wait_nothing_begins(stop in 0..35_000_u64, busy in any::<bool>()) {
        paused(async move {
            let answer = if busy { Answer::Never } else { Answer::Now(Ok(())) };
            let world = World::new([answer; 9]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(stop).await;
            lease.stop_soon();
            pass(10).await;
            let begun = world.server.times().len();
            assert_eq!(world.server.running.load(Ordering::SeqCst), 0);
            pass(100_000).await;
            assert_eq!(world.server.times().len(), begun);
        });
    }

    /// The worker has not seen the start yet.
    #[test]
    fn invariant_16_a_stop_that_overtakes_its_start_wins(wait in any::<bool>(), later in 0..100_000_u64) {
        paused(async move {
            let world = World::new([]);
            let lease = world.lease("a");
            let mut start = Box::pin(lease.start());
            assert!(at_once(start.as_mut()).is_none());
            if wait {
                let (begun, stopped) = tokio::join!(start, lease.stop());
                assert!(begun.is_ok() && stopped == Ok(Stopped::Done));
            } else {
                lease.stop_soon();
                assert_eq!(start.await, Ok(Begun::StoppedBefore));
            }
            pass(later).await;
            assert_eq!(world.server.times(), Vec::<u64>::new());
        });
    }

    #[test]
    fn invariant_17_a_stop_of_what_has_ended_takes_no_time(refused in 0..4_usize, later in 1..9_000_u64) {
        paused(async move {
            let mut answers = vec![Answer::Now(Ok(())); refused];
            answers.push(Answer::Now(REFUSED));
            let world = World::new(answers);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(10_000 * (refused as u64 + 1) + later).await;
            let began = Instant::now();
            assert_eq!(lease.stop().await, Ok(Stopped::Done));
            assert_eq!(began.elapsed(), Duration::ZERO);
        });
    }

    /// Also when some of them have gone.
    #[test]
    fn invariant_18_all_that_wait_for_a_stop_are_told(gone in prop::collection::vec(any::<bool>(), 2..8)) {
        paused(async move {
            let world = World::new([Answer::After(400, Ok(()))]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(10_100).await;
            let mut stops: Vec<_> = gone.iter().map(|_| Box::pin(lease.stop())).collect();
            for stop in &mut stops {
                assert!(at_once(stop.as_mut()).is_none());
            }
            // The first one has sent it; one of the others stays in any case.
            let mut gone = gone.iter().skip(1);
            let last = stops.pop().unwrap();
            stops.retain(|_| !gone.next().copied().unwrap_or(false));
            let began = Instant::now();
            for stop in stops {
                assert_eq!(stop.await, Ok(Stopped::Done));
            }
            assert_eq!(last.await, Ok(Stopped::Done));
            assert_eq!(began.elapsed(), Duration::from_millis(300));
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
async fn dropping_a_renewal_stops_it() {
    let world = World::new([]);
    let lease = world.lease("a");
    lease.start().await.unwrap();
    drop(lease);
    pass(100_000).await;
    assert_eq!(world.server.times(), Vec::<u64>::new());
}
