//! Masters that change, by consent and by death.

use leaseline::Engine;
use leaseline::message::{SettleOutcome, Settlement};
use leaseline_redis::testing::{RedisCluster, RedisSentinels};

use crate::stage::*;

/// A message that both servers have is claimed before the failover, settled after it, and the queue
/// goes on.
#[tokio::test]
async fn a_cluster_fails_over_by_consent() {
    let cluster = RedisCluster::start(3, true);
    let (home, _) = cluster.home("{q}");
    let queue = open(&cluster.url(), Engine::Native, |_| ()).await;
    publish(&queue, &["a", "b"]).await;
    let held = claim_one(&queue).await;
    cluster.fail_over_to(cluster.replica_of(home));
    assert_eq!(
        settle(&queue, &held, Settlement::Ack).await,
        SettleOutcome::Done
    );
    assert_eq!(payload(&claim_one(&queue).await), "b");
}

#[tokio::test]
async fn a_primary_of_a_cluster_dies() {
    let mut cluster = RedisCluster::start(3, true);
    let (home, _) = cluster.home("{q}");
    let queue = open(&cluster.url(), Engine::Component, |_| ()).await;
    publish(&queue, &["a", "b"]).await;
    let held = claim_one(&queue).await;
    cluster.until_in_step(home);
    cluster.node_mut(home).kill9();
    // Not awaited: the calls retry until there is a new primary.
    assert_eq!(
        settle(&queue, &held, Settlement::Ack).await,
        SettleOutcome::Done
    );
    assert_eq!(payload(&claim_one(&queue).await), "b");
    publish(&queue, &["c"]).await;
    assert_eq!(payload(&claim_one(&queue).await), "c");
}

#[tokio::test]
async fn a_master_of_sentinels_steps_down() {
    let set = RedisSentinels::start();
    let queue = open(&set.url(), Engine::Native, |_| ()).await;
    publish(&queue, &["a", "b"]).await;
    let held = claim_one(&queue).await;
    set.fail_over();
    assert_eq!(
        settle(&queue, &held, Settlement::Ack).await,
        SettleOutcome::Done
    );
    assert_eq!(payload(&claim_one(&queue).await), "b");
}

#[tokio::test]
async fn a_master_of_sentinels_dies() {
    let mut set = RedisSentinels::start();
    let queue = open(&set.url(), Engine::Component, |_| ()).await;
    publish(&queue, &["a", "b"]).await;
    let held = claim_one(&queue).await;
    set.until_in_step();
    set.kill_master();
    assert_eq!(
        settle(&queue, &held, Settlement::Ack).await,
        SettleOutcome::Done
    );
    assert_eq!(payload(&claim_one(&queue).await), "b");
    publish(&queue, &["c"]).await;
    assert_eq!(payload(&claim_one(&queue).await), "c");
}

#[tokio::test]
async fn a_service_that_nobody_knows_is_named() {
    let set = RedisSentinels::start();
    let url = set.url().replace("jobs-master", "other");
    let error = leaseline::Connection::open(&url).await.unwrap_err();
    assert_eq!(error.kind, leaseline::ErrorKind::Configuration);
    assert!(error.message.contains("'other'"), "{error}");
}
