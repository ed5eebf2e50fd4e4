//! A real cluster: who is asked, and what happens while a slot moves.

mod support;

use leaseline_core::capability::{Redis, RedisError, Value};
use leaseline_redis::OpenError;
use leaseline_redis::testing::{RedisCluster, RedisServer};
use support::{PATIENT, connector, int, open, run, text};

fn code(reply: Result<Vec<Value>, RedisError>) -> String {
    match reply {
        Err(RedisError::Server(error)) => error.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_scheme_must_be_that_of_the_server() {
    let cluster = RedisCluster::start(1, false);
    let error = connector(&cluster.nodes()[0].url()).open().await;
    let error = error.expect_err("a node of a cluster");
    assert!(matches!(error, OpenError::ClusterNode { .. }), "{error}");
    assert!(error.to_string().contains("redis+cluster://"), "{error}");
    let server = RedisServer::start();
    let url = format!("redis+cluster://127.0.0.1:{}", server.port());
    let error = connector(&url).open().await.expect_err("no cluster");
    assert!(matches!(error, OpenError::NotCluster { .. }), "{error}");
}

/// Keys that are there are served by the old owner, others by the new one, and a command with both
/// kinds has to wait. In the end everything is at the new owner.
#[tokio::test]
async fn calls_follow_a_slot_that_moves() {
    let cluster = RedisCluster::start(3, false);
    let redis = open(&cluster.url()).await;
    let (from, slot) = cluster.home("{x}");
    let to = (from + 1) % 3;
    run(&redis, "SET {x}old 1", PATIENT).await.expect("set");
    cluster.open_migration(slot, from, to);
    assert_eq!(int(&redis, "INCR {x}old").await, 2);
    assert_eq!(int(&redis, "INCR {x}new").await, 1);
    assert_eq!(cluster.ask::<u64>(to, &["DBSIZE"]).expect("asked"), 1);
    let both = run(&redis, "DEL {x}old {x}new", PATIENT).await;
    assert_eq!(code(both), "TRYAGAIN");
    let commands: [&[&[u8]]; 3] = [
        &[b"INCR", b"{x}old"],
        &[b"INCR", b"{x}new"],
        &[b"INCR", b"{x}old"],
    ];
    let replies = redis.pipeline(&commands, PATIENT).await.expect("replies");
    let numbers = [3, 2, 4].map(|number| Ok(vec![Value::Int(number)]));
    assert_eq!(replies, numbers);
    while cluster.move_keys(slot, from, to, 100) > 0 {}
    cluster.close_migration(slot, from, to);
    let replies = redis.pipeline(&commands, PATIENT).await.expect("replies");
    assert_eq!(
        replies,
        [5, 3, 6].map(|number| Ok(vec![Value::Int(number)]))
    );
    assert_eq!(cluster.ask::<u64>(from, &["DBSIZE"]).expect("asked"), 0);
    let script = run(
        &redis,
        "EVALSHA 0123456789012345678901234567890123456789 1 {x}a",
        PATIENT,
    );
    assert_eq!(
        code(script.await),
        "NOSCRIPT",
        "each node has scripts of its own"
    );
}

/// A command that blocks at the old owner goes on at the new one.
#[tokio::test]
async fn a_wait_moves_with_its_slot() {
    let cluster = RedisCluster::start(3, false);
    let (from, slot) = cluster.home("{x}");
    let to = (from + 1) % 3;
    let waiting = connector(&cluster.url()).dedicated("waiter");
    let wait =
        tokio::spawn(
            async move { run(&waiting, "BLMOVE {x}l {x}l RIGHT RIGHT 15", PATIENT).await },
        );
    let until_blocked = async |node: usize| {
        let blocked = || -> String { cluster.ask(node, &["CLIENT", "LIST"]).expect("asked") };
        while !blocked().contains("cmd=blmove") {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    until_blocked(from).await;
    cluster.open_migration(slot, from, to);
    cluster.close_migration(slot, from, to);
    until_blocked(to).await;
    let redis = open(&cluster.url()).await;
    run(&redis, "LPUSH {x}l a", PATIENT).await.expect("pushed");
    assert_eq!(wait.await.expect("no panic"), Ok(vec![text("a")]));
}

/// A primary that is gone costs errors that say so, until another node has its slots.
#[tokio::test]
async fn the_slots_of_a_dead_primary_are_found_again() {
    let mut cluster = RedisCluster::start(3, true);
    let redis = open(&cluster.url()).await;
    let (home, _) = cluster.home("{x}");
    run(&redis, "SET {x}k 1", PATIENT).await.expect("set");
    cluster.until_in_step(home);
    cluster.node_mut(home).kill9();
    let first = run(&redis, "GET {x}k", PATIENT).await;
    assert!(
        matches!(first, Err(RedisError::NotSent(_) | RedisError::Unknown(_))),
        "{first:?}"
    );
    cluster.until_primary(cluster.replica_of(home));
    let mut found = run(&redis, "GET {x}k", PATIENT).await;
    // The other nodes hear of it a moment later.
    while found.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        found = run(&redis, "GET {x}k", PATIENT).await;
    }
    assert_eq!(found, Ok(vec![text("1")]));
}
