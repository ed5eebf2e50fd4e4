//! Everything that a queue does, once, for each engine and each kind of address.

use std::time::Duration;

use leaseline::config::Log;
use leaseline::message::{
    List, Outgoing, PublishOutcome, ReleaseRequest, RenewOutcome, SettleOutcome, Settlement,
};
use leaseline::{Engine, ErrorKind};
use leaseline_redis::testing::{RedisCluster, RedisSentinels};

use crate::stage::*;

async fn tour(url: &str, engine: Engine) {
    let queue = open(url, engine, |config| {
        config.max_delivery_count = Some(1);
        config.completed = Log::Unbounded;
        config.failed = Log::Unbounded;
    })
    .await;

    let keyed = || Outgoing {
        payload: "once".into(),
        deduplication_key: Some("k".into()),
        ..Outgoing::default()
    };
    for expected in [PublishOutcome::Published, PublishOutcome::Duplicate] {
        let reply = queue.publish_all(vec![keyed()]).await.pop().unwrap();
        assert_eq!(reply.outcome, Ok(expected));
    }
    publish(&queue, &["fails", "comes back", "dies"]).await;
    assert_eq!(queue.peek(List::Pending, 10).await.unwrap().len(), 4);

    let first = claim_one(&queue).await;
    assert_eq!(payload(&first), "once");
    let renewed = queue.renew(vec![first.lease.clone()]).await.pop().unwrap();
    assert!(matches!(renewed.unwrap(), RenewOutcome::Renewed(_)));
    assert_eq!(
        settle(&queue, &first, Settlement::Ack).await,
        SettleOutcome::Done
    );

    let second = claim_one(&queue).await;
    assert_eq!(
        settle(&queue, &second, Settlement::Fail).await,
        SettleOutcome::Done
    );
    let third = claim_one(&queue).await;
    let request = ReleaseRequest {
        lease: third.lease.clone(),
        delay_ms: 0,
    };
    queue.release(vec![request]).await.pop().unwrap().unwrap();
    let stats = queue.stats().await.unwrap();
    assert_eq!(
        (
            stats.pending,
            stats.processing,
            stats.completed,
            stats.failed
        ),
        (1, 1, 1, 1)
    );

    // Both were or will be claimed once, which is the limit.
    let fourth = claim_one(&queue).await;
    assert_eq!(payload(&fourth), "dies");
    let request = ReleaseRequest {
        lease: fourth.lease.clone(),
        delay_ms: 0,
    };
    queue.release(vec![request]).await.pop().unwrap().unwrap();
    assert!(queue.claim(5, Duration::ZERO).await.unwrap().is_empty());
    assert_eq!(queue.stats().await.unwrap().dead_letters, 2);
    assert_eq!(queue.redrive(u64::MAX).await, Ok(2));
    let mut redriven: Vec<String> = Vec::new();
    for delivery in queue.claim(5, Duration::ZERO).await.unwrap() {
        redriven.push(payload(&delivery));
        assert_eq!(
            settle(&queue, &delivery, Settlement::Ack).await,
            SettleOutcome::Done
        );
    }
    redriven.sort();
    assert_eq!(redriven, ["comes back", "dies"]);
    assert_eq!(queue.purge(List::Completed).await, Ok(3));

    let sleeper = {
        let queue = queue.clone();
        tokio::spawn(async move { queue.claim(1, FOR_EVER).await })
    };
    let other = open(url, engine, |_| ()).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    publish(&other, &["wake up"]).await;
    let woken = tokio::time::timeout(PATIENCE, sleeper).await.unwrap();
    let woken = woken.unwrap().unwrap();
    assert_eq!(payload(&woken[0]), "wake up");
    settle(&queue, &woken[0], Settlement::Ack).await;

    assert_eq!(queue.drain(Duration::from_secs(5)).await, Ok(true));
    let refused = queue.publish_all(vec![keyed()]).await.pop().unwrap();
    assert_eq!(refused.outcome.unwrap_err().kind, ErrorKind::Drained);
}

#[tokio::test]
async fn cluster_native() {
    tour(&RedisCluster::start(3, false).url(), Engine::Native).await;
}

#[tokio::test]
async fn cluster_component() {
    tour(&RedisCluster::start(3, false).url(), Engine::Component).await;
}

#[tokio::test]
async fn sentinel_native() {
    tour(&RedisSentinels::start().url(), Engine::Native).await;
}

#[tokio::test]
async fn sentinel_component() {
    tour(&RedisSentinels::start().url(), Engine::Component).await;
}
