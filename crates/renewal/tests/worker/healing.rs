//! What the worker survives: invariants 22 (in `src/guard.rs`) and 23.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use leaseline_renewal::{Begun, Stopped, Terms};
use proptest::prelude::*;

use crate::world::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn invariant_23_after_a_crash_all_renewals_go_on_and_new_ones_start(
        count in 1..30_usize,
        crashes in 1..4_u64,
    ) {
        paused(async {
            let world = World::new([]);
            let leases: Vec<_> = (0..count).map(|_| world.lease("a")).collect();
            for lease in &leases {
                lease.start().await.unwrap();
            }
            pass(9_999).await;
            for crash in 1..=crashes {
                world.server.crash.store(true, Ordering::SeqCst);
                pass(500).await;
                // All that were due when it crashed.
                assert_eq!(world.server.times().len() as u64, crash * count as u64);
                assert_eq!(world.renewer.worker().metrics().restarts, crash);
                pass(9_600).await;
            }
            let new = world.lease("new");
            assert_eq!(new.start().await, Ok(Begun::Running));
            for lease in &leases {
                assert_eq!(lease.stop().await, Ok(Stopped::Done));
            }
            assert_eq!(world.renewer.worker().metrics().counts.active, 1);
        });
    }
}

/// In real time, as each runtime has a clock of its own when they are paused.
#[test]
fn a_runtime_that_ends_hands_the_worker_to_the_next() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .build()
            .unwrap()
    };
    let world = Arc::new(World::new([]));
    let terms = || Terms::exactly(Duration::from_millis(300)).every(Duration::from_millis(20));
    let (first, second) = (runtime(), runtime());
    let short = world.renewer.renewal("short", terms());
    let long = world.renewer.renewal("long", terms());
    first.block_on(async {
        short.start().await.unwrap();
        pass(100).await;
    });
    second.block_on(async { long.start().await.unwrap() });
    assert!(!world.server.times_of("short").is_empty());
    drop(first);
    let before = world.server.times_of("long").len();
    let patience = std::time::Instant::now();
    while world.server.times_of("long").len() < before + 5 {
        assert!(
            patience.elapsed() < Duration::from_secs(20),
            "nobody renews"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(world.renewer.worker().metrics().restarts >= 1);
    second.block_on(async {
        assert_eq!(long.stop().await, Ok(Stopped::Done));
        assert_eq!(short.stop().await, Ok(Stopped::Done));
    });
    // And with no runtime left, the next start brings it back.
    drop(second);
    let third = runtime();
    third.block_on(async {
        let last = world.renewer.renewal("last", terms());
        last.start().await.unwrap();
        let patience = std::time::Instant::now();
        while world.server.times_of("last").is_empty() {
            assert!(
                patience.elapsed() < Duration::from_secs(20),
                "nobody renews"
            );
            pass(5).await;
        }
    });
}

/// A program that panics says so, and does not overflow its stack.
#[test]
fn a_panic_that_ends_the_runtime_is_only_that() {
    let world = World::new([]);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        // Dropped while the panic passes.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            world.lease("a").start().await.unwrap();
            panic!("the program's own");
        });
    }));
    assert_eq!(
        panicked.unwrap_err().downcast_ref(),
        Some(&"the program's own")
    );
    // And the next runtime takes over.
    paused(async {
        let new = world.lease("new");
        assert_eq!(new.start().await, Ok(Begun::Running));
        assert_eq!(new.stop().await, Ok(Stopped::Done));
    });
}
