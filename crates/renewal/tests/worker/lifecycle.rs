//! What a delivery relies on around its handler: invariants 3 and 38 to 41 on the worker. The client's
//! suite has them with handlers and a queue.

use std::sync::atomic::Ordering;
use std::time::Duration;

use leaseline_renewal::{Metrics, Stopped};
use proptest::prelude::*;
use tokio::time::timeout;

use crate::world::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A handle without a lease, which the original has for messages without a receipt, cannot be
    /// made. One that was not started does as little.
    #[test]
    fn invariant_03_a_handle_that_was_not_started_does_nothing(acts in prop::collection::vec(0..3_u8, 0..12)) {
        let (events, ()) = crate::events::told(tracing::Level::TRACE, || paused(async {
            let world = World::new([]);
            let lease = world.lease("a");
            for act in acts {
                match act {
                    0 => drop(lease.stop().await.unwrap()),
                    1 => lease.stop_soon(),
                    _ => assert!(timeout(Duration::from_secs(1), lease.lost()).await.is_err()),
                }
            }
            drop(lease);
            pass(100_000).await;
            assert_eq!(world.renewer.worker().metrics(), Metrics::default());
            assert_eq!(world.server.times(), Vec::<u64>::new());
        }));
        prop_assert_eq!(events, [""; 0]);
    }

    /// Success: a stop that does not wait, then the settlement.
    #[test]
    fn invariant_38_after_a_success_at_most_one_request_reaches_the_server(
        handled in 0..50_000_u64,
        request in 0..9_000_u64,
    ) {
        paused(async {
            let world = World::new([Answer::After(request, Ok(())); 20]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(handled).await;
            let running = world.server.running.load(Ordering::SeqCst);
            let begun = world.server.times().len();
            lease.stop_soon();
            pass(100_000).await;
            assert!(running <= 1);
            assert_eq!(world.server.times().len(), begun);
        });
    }

    /// Later: a waited stop, then the update that the handler asked for.
    #[test]
    fn invariant_39_the_update_that_a_handler_asked_for_is_the_last(
        handled in 0..50_000_u64,
        request in 0..9_000_u64,
        seconds in 0..100_u64,
    ) {
        paused(async {
            let world = World::new([Answer::After(request, Ok(())); 20]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(handled).await;
            let stopped = lease.stop().await.unwrap();
            lease.extend(seconds as f64).await.unwrap();
            pass(100_000).await;
            let sent = world.server.begun.lock().unwrap().last().map(|sent| sent.2);
            assert_eq!(sent, Some(seconds));
            // Not only sent, as in the original.
            if stopped == Stopped::Done {
                let applied = world.server.applied.lock().unwrap().last().copied();
                assert_eq!(applied, Some(("a", seconds)));
            }
        });
    }

    /// Handoff: a waited stop, and nothing.
    #[test]
    fn invariant_40_after_a_handoff_no_update_is_made(handled in 0..50_000_u64, request in 0..4_000_u64) {
        paused(async {
            let world = World::new([Answer::After(request, Ok(())); 20]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(handled).await;
            assert_eq!(lease.stop().await, Ok(Stopped::Done));
            drop(lease);
            let (begun, ended) = (world.server.times().len(), world.server.ended.load(Ordering::SeqCst));
            assert_eq!(begun, ended);
            pass(100_000).await;
            assert_eq!(world.server.times().len(), begun);
        });
    }

    /// Any other error, also a panic or a future that is dropped: the handle is dropped.
    #[test]
    fn invariant_41_after_an_error_no_request_begins(handled in 0..50_000_u64, request in 0..9_000_u64) {
        paused(async {
            let world = World::new([Answer::After(request, Ok(())); 20]);
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(handled).await;
            drop(lease);
            pass(1).await;
            let begun = world.server.times().len();
            assert_eq!(world.server.running.load(Ordering::SeqCst), 0);
            pass(100_000).await;
            assert_eq!(world.server.times().len(), begun);
        });
    }
}
