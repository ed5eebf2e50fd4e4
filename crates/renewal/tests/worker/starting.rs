//! Starts: invariants 1, 2, 8, 9, 11, 12, 21 and 25.

use std::sync::Arc;

use leaseline_core::ErrorKind;
use leaseline_renewal::{Begun, Settings};
use proptest::prelude::*;
use tokio::time::Instant;

use crate::world::*;

fn capacity(commands: usize) -> Settings {
    let mut settings = Settings::default();
    settings.command_capacity = commands;
    settings
}

/// What an owner does, and time between.
#[derive(Clone, Debug)]
enum Act {
    Start,
    Stop,
    StopSoon,
    Pass(u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        Just(Act::Start),
        Just(Act::Stop),
        Just(Act::StopSoon),
        (0..15_000_u64).prop_map(Act::Pass),
    ];
    prop::collection::vec(act, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn invariant_01_a_handle_is_single_use(acts in acts()) {
        paused(async {
            let world = World::new([]);
            let lease = world.lease("a");
            assert_eq!(lease.start().await, Ok(Begun::Running));
            for act in acts {
                match act {
                    Act::Start => {
                        let error = lease.start().await.unwrap_err();
                        assert_eq!(error.kind, ErrorKind::InvalidArgument);
                        assert!(error.message.contains("single-use"), "{error}");
                    }
                    Act::Stop => drop(lease.stop().await.unwrap()),
                    Act::StopSoon => lease.stop_soon(),
                    Act::Pass(ms) => pass(ms).await,
                }
            }
        });
    }

    #[test]
    fn invariant_02_a_handle_that_was_stopped_does_not_start(waits in prop::collection::vec(any::<bool>(), 1..5)) {
        paused(async {
            let world = World::new([]);
            let lease = world.lease("a");
            for wait in waits {
                if wait {
                    lease.stop().await.unwrap();
                } else {
                    lease.stop_soon();
                }
                let error = lease.start().await.unwrap_err();
                assert_eq!(error.kind, ErrorKind::InvalidArgument);
                assert!(error.message.contains("closed"), "{error}");
            }
        });
    }

    #[test]
    fn invariant_11_a_start_waits_for_no_server(stuck in 0..20_usize, later in 0..30_000_u64) {
        paused(async {
            let world = World::new(vec![Answer::Never; stuck]);
            let leases: Vec<_> = (0..stuck).map(|_| world.lease("stuck")).collect();
            for lease in &leases {
                lease.start().await.unwrap();
            }
            pass(later).await;
            let lease = world.lease("a");
            let began = Instant::now();
            assert_eq!(lease.start().await, Ok(Begun::Running));
            assert_eq!(began.elapsed().as_millis(), 0);
            let active = world.renewer.worker().metrics().counts.active;
            assert_eq!(active, stuck as u64 + 1);
        });
    }

    #[test]
    fn invariant_12_what_was_started_and_neither_stopped_nor_refused_is_active(
        fates in prop::collection::vec((acts(), any::<bool>()), 1..6),
    ) {
        paused(async {
            let mut active = 0;
            let refusals = fates.iter().filter(|(_, refused)| *refused).count();
            let world = World::new([]);
            let mut leases = Vec::new();
            for (acts, _) in &fates {
                let lease = world.lease("a");
                let (mut runs, mut closed) = (false, false);
                for act in acts {
                    match act {
                        Act::Start if !runs && !closed => {
                            lease.start().await.unwrap();
                            runs = true;
                        }
                        Act::Start => {}
                        Act::Stop => {
                            lease.stop().await.unwrap();
                            (runs, closed) = (false, true);
                        }
                        Act::StopSoon => {
                            lease.stop_soon();
                            pass(1).await;
                            (runs, closed) = (false, true);
                        }
                        Act::Pass(ms) => pass(*ms).await,
                    }
                }
                active += u64::from(runs);
                leases.push(lease);
                assert_eq!(world.renewer.worker().metrics().counts.active, active);
            }
            // The next so many requests are refused, one of each.
            world.server.answer([Answer::Now(REFUSED)].repeat(refusals));
            pass(10_001).await;
            let left = active.saturating_sub(refusals as u64);
            assert_eq!(world.renewer.worker().metrics().counts.active, left);
        });
    }

    /// Two workers would be two tasks.
    #[test]
    fn invariant_21_many_first_starts_have_one_worker(count in 1..100_usize) {
        paused(async {
            let world = World::new([]);
            let leases: Vec<_> = (0..count).map(|_| world.lease("a")).collect();
            let mut starts: Vec<_> = leases.iter().map(|lease| Box::pin(lease.start())).collect();
            for start in &mut starts {
                assert!(at_once(start.as_mut()).is_none());
            }
            let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
            assert_eq!(tasks(), 1);
            for start in starts {
                assert_eq!(start.await, Ok(Begun::Running));
            }
            assert_eq!(tasks(), 1);
            pass(10_001).await;
            assert_eq!(world.server.times(), vec![10_000; count]);
            assert_eq!(world.renewer.worker().metrics().restarts, 0);
        });
    }

    /// The worker cannot run before this test waits, so it is stalled.
    #[test]
    fn invariant_25_an_overflow_is_an_error_at_once_and_leaks_nothing(
        commands in 1..30_usize,
        more in 1..10_usize,
    ) {
        paused(async {
            let world = World::with(capacity(commands), 1, []);
            let leases: Vec<_> = (0..commands + more).map(|_| world.lease("a")).collect();
            let mut starts: Vec<_> = leases.iter().map(|lease| Box::pin(lease.start())).collect();
            for (at, start) in starts.iter_mut().enumerate() {
                match at_once(start.as_mut()) {
                    None => assert!(at < commands, "{at} did not fit"),
                    Some(refused) => {
                        let error = refused.unwrap_err();
                        assert!(at >= commands, "{at} fitted");
                        assert_eq!(error.kind, ErrorKind::Backpressure);
                        assert!(error.message.contains("command buffer is full"), "{error}");
                    }
                }
            }
            assert_eq!(world.renewer.worker().metrics().queued, commands as u64);
            for start in starts.drain(..commands) {
                assert_eq!(start.await, Ok(Begun::Running));
            }
            drop(starts);
            assert_eq!(world.renewer.worker().metrics().counts.active, commands as u64);
            // Invariant 8: it is fresh, and can be started.
            assert_eq!(leases[commands].start().await, Ok(Begun::Running));
        });
    }

    #[test]
    fn invariant_08_a_start_that_is_dropped_leaves_nothing(drops in 1..5_u64, between in 0..3_u64) {
        paused(async {
            let world = World::new([]);
            let lease = world.lease("a");
            for _ in 0..drops {
                assert!(at_once(Box::pin(lease.start()).as_mut()).is_none());
                if between > 0 {
                    pass(between).await;
                    assert_eq!(world.renewer.worker().metrics().counts.active, 0);
                }
            }
            assert_eq!(lease.start().await, Ok(Begun::Running));
            assert_eq!(world.renewer.worker().metrics().counts.active, 1);
            pass(10_001).await;
            assert_eq!(world.server.times().len(), 1);
        });
    }
}

/// The worker's runtime stands still.
#[test]
fn invariant_08_a_start_that_times_out_leaves_nothing() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().unwrap()
    };
    let (still, other) = (runtime(), runtime());
    let world = still.block_on(async { World::new([]) });
    let (first, late) = (world.lease("first"), world.lease("late"));
    still.block_on(first.start()).unwrap();
    other.block_on(async {
        let began = Instant::now();
        let error = late.start().await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable);
        assert_eq!(began.elapsed().as_millis(), 5_000);
        // The start that is not wanted any more, and its stop.
        assert_eq!(world.renewer.worker().metrics().queued, 2);
    });
    still.block_on(async {
        pass(1).await;
        assert_eq!(world.renewer.worker().metrics().counts.active, 1);
        assert_eq!(late.start().await, Ok(Begun::Running));
    });
}

#[tokio::test(start_paused = true)]
async fn hazard_1_a_stop_that_does_not_fit_leaks_no_renewal() {
    let world = World::with(capacity(2), 1, []);
    let leases: Vec<_> = (0..4).map(|_| world.lease("a")).collect();
    for lease in &leases {
        lease.start().await.unwrap();
    }
    // Two commands fit, and the others are marks.
    for lease in &leases[..3] {
        lease.stop_soon();
    }
    let error = leases[3].stop().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Backpressure);
    pass(1).await;
    assert_eq!(leases[3].stop().await, Ok(leaseline_renewal::Stopped::Done));
    pass(100_000).await;
    assert_eq!(world.server.times(), Vec::<u64>::new());
    assert_eq!(world.renewer.worker().metrics().counts.active, 0);
}

/// It burns a handle of the original.
#[test]
fn invariant_09_a_handle_whose_worker_did_not_start_is_not_burned() {
    let world = Arc::new(World::new([]));
    let lease = world.lease("a");
    for _ in 0..3 {
        let error = at_once(Box::pin(lease.start()).as_mut())
            .unwrap()
            .unwrap_err();
        assert_eq!(error.kind, ErrorKind::Configuration);
    }
    paused(async {
        assert_eq!(world.lease("other").start().await, Ok(Begun::Running));
        assert_eq!(lease.start().await, Ok(Begun::Running));
    });
}
