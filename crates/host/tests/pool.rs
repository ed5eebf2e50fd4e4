//! Instances are kept while they are well.

mod support;

use std::time::Duration;

use leaseline_wasmtime::{InstanceError, InstancePool, Limits, Redis, TrapCause};
use support::{AnsweringRedis, Config, ModelRedis, SilentRedis, ctx, message, open, runtime};
use tokio::time::timeout;

const MOMENT: Duration = Duration::from_millis(50);

fn pool(redis: impl Redis + 'static, limits: Limits, capacity: usize) -> InstancePool {
    InstancePool::new(
        runtime(),
        ctx(redis, limits),
        "main",
        Config::new("jobs"),
        capacity,
    )
}

#[tokio::test]
async fn a_dropped_call_kills_the_instance() {
    let mut queue = open(SilentRedis, Limits::default()).await;
    timeout(MOMENT, queue.claim(1, 0))
        .await
        .expect_err("nobody answers");
    assert!(!queue.is_alive());
    assert_eq!(queue.claim(1, 0).await.unwrap_err(), InstanceError::Dead);
}

#[tokio::test]
async fn instances_are_used_again() {
    let pool = pool(ModelRedis::new(), Limits::default(), 2);
    for _ in 0..5 {
        pool.acquire()
            .await
            .unwrap()
            .publish(&[message("x")])
            .await
            .unwrap();
    }
    let counters = pool.counters();
    assert_eq!((counters.created, counters.reused), (1, 4));
    assert_eq!((counters.discarded, counters.idle), (0, 1));
}

#[tokio::test]
async fn a_call_that_was_dropped_discards_its_instance() {
    let pool = pool(SilentRedis, Limits::default(), 1);
    let mut instance = pool.acquire().await.unwrap();
    timeout(MOMENT, instance.stats())
        .await
        .expect_err("nobody answers");
    drop(instance);
    assert_eq!((pool.counters().discarded, pool.counters().idle), (1, 0));
    assert!(pool.acquire().await.unwrap().is_alive());
    assert_eq!(pool.counters().created, 2);
}

#[tokio::test]
async fn a_call_whose_task_was_aborted_discards_its_instance() {
    let pool = pool(SilentRedis, Limits::default(), 1);
    let task = tokio::spawn({
        let pool = pool.clone();
        async move { pool.acquire().await.unwrap().stats().await.map(drop) }
    });
    tokio::time::sleep(MOMENT).await;
    task.abort();
    task.await.unwrap_err();
    assert_eq!(pool.counters().discarded, 1);
}

#[tokio::test]
async fn a_trap_discards_its_instance() {
    let mut limits = Limits::default();
    limits.host_calls = 10;
    let pool = pool(ModelRedis::new(), limits, 1);
    let mut instance = pool.acquire().await.unwrap();
    let messages = vec![message("x"); 50];
    let error = instance.publish(&messages).await.unwrap_err();
    assert!(
        matches!(
            error,
            InstanceError::Trapped {
                cause: TrapCause::HostCalls,
                ..
            }
        ),
        "{error}"
    );
    drop(instance);
    assert_eq!((pool.counters().discarded, pool.counters().idle), (1, 0));
    pool.acquire()
        .await
        .unwrap()
        .publish(&[message("x")])
        .await
        .unwrap();
}

#[tokio::test]
async fn a_panicking_capability_discards_the_instance() {
    let pool = pool(
        AnsweringRedis::new(|_| panic!("a bug of the embedder")),
        Limits::default(),
        1,
    );
    let task = tokio::spawn({
        let pool = pool.clone();
        async move { pool.acquire().await.unwrap().stats().await.map(drop) }
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(pool.counters().discarded, 1);
    assert!(pool.acquire().await.unwrap().is_alive());
}

#[tokio::test]
async fn an_error_of_the_queue_keeps_the_instance() {
    let pool = pool(ModelRedis::new(), Limits::default(), 1);
    pool.acquire().await.unwrap().claim(0, 0).await.unwrap_err();
    assert_eq!((pool.counters().discarded, pool.counters().idle), (0, 1));
}

#[tokio::test]
async fn who_wants_more_than_the_capacity_waits() {
    let pool = pool(ModelRedis::new(), Limits::default(), 1);
    let first = pool.acquire().await.unwrap();
    assert!(timeout(MOMENT, pool.acquire()).await.is_err());
    drop(first);
    timeout(MOMENT, pool.acquire())
        .await
        .expect("a place is free")
        .unwrap();
}

#[tokio::test]
async fn a_closed_pool_hands_over_its_instances() {
    let pool = pool(ModelRedis::new(), Limits::default(), 2);
    let in_use = pool.acquire().await.unwrap();
    drop(pool.acquire().await.unwrap());
    let mut idle = pool.close();
    assert_eq!(idle.len(), 1);
    assert!(idle[0].drain(100).await.unwrap());
    assert_eq!(
        pool.acquire().await.map(drop).unwrap_err(),
        InstanceError::PoolClosed
    );
    drop(in_use);
    assert_eq!(pool.counters().idle, 0);
}

#[tokio::test]
async fn many_tasks_share_a_pool() {
    let pool = pool(ModelRedis::new(), Limits::default(), 4);
    let tasks: Vec<_> = (0..32)
        .map(|number| {
            let pool = pool.clone();
            tokio::spawn(async move {
                let payload = format!("{number}");
                pool.acquire()
                    .await
                    .unwrap()
                    .publish(&[message(payload)])
                    .await
                    .unwrap()
            })
        })
        .collect();
    for task in tasks {
        assert!(task.await.unwrap()[0].outcome.is_ok());
    }
    assert_eq!(
        pool.acquire().await.unwrap().stats().await.unwrap().pending,
        32
    );
    assert!(pool.counters().created <= 4);
}
