use std::sync::Arc;

use leaseline_core::ErrorKind;
use leaseline_renewal::{Begun, Settings};

use crate::world::*;

fn capacity(commands: usize) -> Settings {
    let mut settings = Settings::default();
    settings.command_capacity = commands;
    settings
}

#[tokio::test(start_paused = true)]
async fn invariant_1_a_handle_is_single_use() {
    let world = World::new([]);
    let lease = world.lease("a");
    assert_eq!(lease.start().await, Ok(Begun::Running));
    for _ in 0..3 {
        let error = lease.start().await.unwrap_err();
        assert!(error.message.contains("single-use"), "{error}");
        lease.stop().await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn invariant_2_a_handle_that_was_stopped_does_not_start() {
    let world = World::new([]);
    let lease = world.lease("a");
    lease.stop().await.unwrap();
    assert!(lease.start().await.unwrap_err().message.contains("closed"));
}

#[tokio::test(start_paused = true)]
async fn invariant_11_a_start_waits_for_no_server() {
    let world = World::new([Answer::Never]);
    let lease = world.lease("a");
    let began = tokio::time::Instant::now();
    lease.start().await.unwrap();
    assert_eq!(began.elapsed().as_millis(), 0);
    assert_eq!(world.renewer.worker().metrics().counts.active, 1);
}

#[tokio::test(start_paused = true)]
async fn invariant_21_many_first_starts_have_one_worker() {
    let world = Arc::new(World::new([]));
    let starts = (0..100).map(|_| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let lease = world.lease("a");
            lease.start().await.unwrap();
            pass(10_500).await;
        })
    });
    for start in starts.collect::<Vec<_>>() {
        start.await.unwrap();
    }
    assert_eq!(world.server.times(), [10_000; 100]);
    let metrics = world.renewer.worker().metrics();
    assert_eq!((metrics.restarts, metrics.counts.extended), (0, 100));
}

/// The worker cannot run before this test waits, so it is stalled.
#[tokio::test(start_paused = true)]
async fn invariant_25_an_overflow_is_an_error_and_leaks_nothing() {
    let world = World::with(capacity(3), 1, []);
    let leases: Vec<_> = (0..5).map(|_| world.lease("a")).collect();
    let mut starts: Vec<_> = leases.iter().map(|lease| Box::pin(lease.start())).collect();
    let polled: Vec<_> = starts
        .iter_mut()
        .map(|start| futures_now(start.as_mut()))
        .collect();
    assert!(polled[..3].iter().all(Option::is_none), "queued");
    for refused in &polled[3..] {
        let error = refused.clone().unwrap().unwrap_err();
        assert_eq!(error.kind, ErrorKind::Backpressure);
        assert!(error.message.contains("command buffer is full"), "{error}");
    }
    for start in starts.drain(..3) {
        assert_eq!(start.await, Ok(Begun::Running));
    }
    drop(starts);
    assert_eq!(world.renewer.worker().metrics().counts.active, 3);
    // Invariant 8: it is fresh, and can be started.
    assert_eq!(leases[3].start().await, Ok(Begun::Running));
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

#[tokio::test(start_paused = true)]
async fn invariant_8_a_start_that_is_dropped_leaves_nothing() {
    let world = World::new([]);
    let lease = world.lease("a");
    assert!(futures_now(Box::pin(lease.start()).as_mut()).is_none());
    pass(1).await;
    assert_eq!(world.renewer.worker().metrics().counts.active, 0);
    assert_eq!(lease.start().await, Ok(Begun::Running));
    pass(10_001).await;
    assert_eq!(world.server.times().len(), 1);
}

#[test]
fn a_start_outside_of_a_runtime_is_refused() {
    let world = World::new([]);
    let lease = world.lease("a");
    let error = futures_now(Box::pin(lease.start()).as_mut())
        .unwrap()
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Configuration);
}

/// Polls once.
pub(crate) fn futures_now<T>(
    future: std::pin::Pin<&mut (impl Future<Output = T> + ?Sized)>,
) -> Option<T> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}
