use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseline_renewal::{Lost, Stopped};
use tokio::time::{Instant, timeout};

use crate::world::*;

#[tokio::test(start_paused = true)]
async fn invariant_32_a_refusal_ends_it_and_the_owner_is_told() {
    let world = World::new([Answer::Now(Ok(())), Answer::Now(REFUSED)]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let lease = world.lease("a").on_lost({
        let told = Arc::clone(&told);
        move |why| told.lock().unwrap().push(why)
    });
    lease.start().await.unwrap();
    assert_eq!(lease.lost().await, Lost::Refused);
    pass(100_000).await;
    assert_eq!(world.server.times(), [10_000, 20_000]);
    assert_eq!(*told.lock().unwrap(), [Lost::Refused]);
    let began = Instant::now();
    assert_eq!(lease.stop().await, Ok(Stopped::Done));
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn invariant_33_what_may_pass_is_tried_for_ever() {
    let world = World::new([Answer::Now(LOST); 100]);
    let lease = world.lease("a");
    lease.start().await.unwrap();
    pass(10_000 + 100 * 3_000 + 10_001).await;
    assert_eq!(world.server.times().len(), 102);
    assert!(timeout(Duration::from_secs(1), lease.lost()).await.is_err());
    assert_eq!(world.renewer.worker().metrics().counts.transient, 100);
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
