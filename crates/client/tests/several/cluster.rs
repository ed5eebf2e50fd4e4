//! What is particular to a cluster.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseline::capability::{Redis, RedisError, Value};
use leaseline::message::{RenewOutcome, SettleOutcome, Settlement};
use leaseline::{Connection, Engine, ErrorKind, Queue};
use leaseline_redis::testing::{RedisCluster, RedisServer};

use crate::stage::*;

#[tokio::test]
async fn a_wrong_scheme_is_refused_and_the_right_one_named() {
    let cluster = RedisCluster::start(1, false);
    let plain = cluster.nodes()[0].url();
    let error = Queue::builder("{q}")
        .redis(&plain)
        .open()
        .await
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Configuration);
    assert!(error.message.contains("redis+cluster://"), "{error}");

    let server = RedisServer::start();
    let url = format!("redis+cluster://127.0.0.1:{}", server.port());
    let error = Queue::builder("{q}").redis(&url).open().await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Configuration);
    assert!(error.message.contains("write redis://"), "{error}");
}

#[tokio::test]
async fn keys_in_several_slots_are_refused_before_anything_is_sent() {
    let cluster = RedisCluster::start(3, false);
    for name in ["jobs", "{}", "{}{x}"] {
        let opened = Queue::builder(name).redis(cluster.url()).open().await;
        let error = opened.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Configuration, "{name}");
        assert!(error.message.contains("hash tag"), "{name}: {error}");
    }
    let connection = Connection::open(&cluster.url()).await.unwrap();
    assert!(connection.is_cluster());
    let opened = Queue::builder("jobs")
        .connection(connection.clone())
        .open()
        .await;
    assert_eq!(opened.unwrap_err().kind, ErrorKind::Configuration);
    let elsewhere = Queue::builder("{q}")
        .redis(cluster.url())
        .configure(|config| config.dead_letter_queue = Some("dead".into()))
        .open()
        .await
        .unwrap_err();
    assert!(elsewhere.message.contains("share a slot"), "{elsewhere}");

    let commands: [&[&[u8]]; 2] = [&[b"SET", b"a", b"1"], &[b"SET", b"b", b"1"]];
    let refused = connection.pipeline(&commands, 5_000).await.unwrap_err();
    let RedisError::Denied(reason) = &refused else {
        panic!("{refused}")
    };
    assert!(reason.contains("{jobs}"), "{reason}");
    for node in 0..3 {
        assert_eq!(cluster.ask::<u64>(node, &["DBSIZE"]).unwrap(), 0);
    }
    // One slot after the other is fine, wherever they are.
    for key in ["a", "b", "c", "d"] {
        let set = connection
            .execute(&[b"SET", key.as_bytes(), b"1"], 5_000)
            .await;
        assert_eq!(set, Ok(vec![Value::Status("OK".into())]));
    }
    // A pipeline takes its keyless commands along.
    let (home, _) = cluster.home("a");
    let commands: [&[&[u8]]; 2] = [&[b"EXISTS", b"a"], &[b"CLUSTER", b"MYID"]];
    let replies = connection.pipeline(&commands, 5_000).await.unwrap();
    let id: String = cluster.ask(home, &["CLUSTER", "MYID"]).unwrap();
    assert_eq!(replies[1], Ok(vec![Value::Bytes(id.into_bytes())]));
}

/// The first node of the address does not have to be there.
#[tokio::test]
async fn one_living_node_of_the_address_is_enough() {
    let cluster = RedisCluster::start(1, false);
    let dead = leaseline_redis::testing::free_port();
    let alive = cluster.nodes()[0].port();
    let url = format!("redis+cluster://127.0.0.1:{dead},127.0.0.1:{alive}");
    let queue = open(&url, Engine::Native, |_| ()).await;
    publish(&queue, &["a"]).await;
    assert_eq!(payload(&claim_one(&queue).await), "a");
}

/// A slot goes to another node while a lease is out: nothing of it is noticed.
#[tokio::test]
async fn a_lease_survives_the_move_of_its_slot() {
    let cluster = RedisCluster::start(3, false);
    let (from, slot) = cluster.home("{q}");
    let to = (from + 1) % 3;
    let queue = open(&cluster.url(), Engine::Native, |_| ()).await;
    publish(&queue, &["a", "b"]).await;
    let held = claim_one(&queue).await;
    cluster.open_migration(slot, from, to);
    while cluster.move_keys(slot, from, to, 100) > 0 {}
    cluster.close_migration(slot, from, to);
    let renewed = queue.renew(vec![held.lease.clone()]).await.pop().unwrap();
    assert!(matches!(renewed.unwrap(), RenewOutcome::Renewed(_)));
    assert_eq!(
        settle(&queue, &held, Settlement::Ack).await,
        SettleOutcome::Done
    );
    let next = claim_one(&queue).await;
    assert_eq!(payload(&next), "b");
    assert_eq!(
        settle(&queue, &next, Settlement::Ack).await,
        SettleOutcome::Done
    );
}

/// The slot goes round while publishers, consumers and a waiter are at work. Every message is handed
/// out and settled, none twice, because no lease ends.
async fn traffic(engine: Engine) {
    const MESSAGES: usize = 300;
    let cluster = Arc::new(RedisCluster::start(3, false));
    let url = cluster.url();
    let queue = open(&url, engine, |_| ()).await;
    let seen = Arc::new(Mutex::new(Vec::<String>::new()));
    let over = Arc::new(AtomicBool::new(false));
    let consuming = {
        let (consumer, seen) = (queue.consumer().concurrency(4), Arc::clone(&seen));
        tokio::spawn(async move {
            consumer
                .run(move |delivery| {
                    let seen = Arc::clone(&seen);
                    async move {
                        let text = String::from_utf8_lossy(delivery.payload()).into_owned();
                        seen.lock().unwrap().push(text);
                        Ok::<(), String>(())
                    }
                })
                .await
        })
    };
    let publishing = {
        let publisher = open(&url, engine, |_| ()).await;
        tokio::spawn(async move {
            for n in 0..MESSAGES {
                publish(&publisher, &[&n.to_string()]).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
    };
    let moves = Arc::new(AtomicUsize::new(0));
    let moving = {
        let (cluster, over, moves) = (Arc::clone(&cluster), Arc::clone(&over), Arc::clone(&moves));
        tokio::task::spawn_blocking(move || {
            let (mut owner, slot) = cluster.home("{q}");
            while !over.load(SeqCst) {
                let to = (owner + 1) % 3;
                cluster.open_migration(slot, owner, to);
                while cluster.move_keys(slot, owner, to, 2) > 0 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                cluster.close_migration(slot, owner, to);
                owner = to;
                moves.fetch_add(1, SeqCst);
                std::thread::sleep(Duration::from_millis(100));
            }
        })
    };
    publishing.await.unwrap();
    until("all are handed out", || {
        let seen = seen.lock().unwrap().len();
        async move { seen >= MESSAGES }
    })
    .await;
    over.store(true, SeqCst);
    moving.await.unwrap();
    assert!(moves.load(SeqCst) > 3, "the slot moved: {moves:?}");
    assert_eq!(queue.drain(PATIENCE).await, Ok(true));
    let progress = tokio::time::timeout(PATIENCE, consuming).await.unwrap();
    let progress = progress.unwrap().unwrap();
    assert_eq!((progress.acked, progress.failed), (MESSAGES as u64, 0));
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    let distinct: BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (MESSAGES, MESSAGES));
    let fresh = open(&url, engine, |_| ()).await;
    let stats = fresh.stats().await.unwrap();
    assert_eq!((stats.pending, stats.processing), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_message_is_settled_while_the_slot_moves_native() {
    traffic(Engine::Native).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_message_is_settled_while_the_slot_moves_component() {
    traffic(Engine::Component).await;
}

/// A consumer that sleeps at the old owner is woken by a push at the new one.
#[tokio::test]
async fn a_sleeper_moves_with_its_slot() {
    let cluster = RedisCluster::start(3, false);
    let (from, slot) = cluster.home("{q}");
    let to = (from + 1) % 3;
    let queue = open(&cluster.url(), Engine::Native, |_| ()).await;
    let sleeper = {
        let queue = queue.clone();
        tokio::spawn(async move { queue.claim(1, FOR_EVER).await })
    };
    let waits_at = |node: usize| {
        let clients: String = cluster.ask(node, &["CLIENT", "LIST"]).unwrap();
        async move { clients.contains("cmd=blmove") }
    };
    until("it sleeps at the old owner", || waits_at(from)).await;
    cluster.open_migration(slot, from, to);
    while cluster.move_keys(slot, from, to, 100) > 0 {}
    cluster.close_migration(slot, from, to);
    until("it sleeps at the new owner", || waits_at(to)).await;
    publish(&queue, &["wake up"]).await;
    let woken = tokio::time::timeout(PATIENCE, sleeper).await.unwrap();
    assert_eq!(payload(&woken.unwrap().unwrap()[0]), "wake up");
}
