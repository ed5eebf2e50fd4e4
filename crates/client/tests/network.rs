//! A network between the queue and a real server that loses, cuts and repeats.

use std::fmt::Debug;
use std::time::Duration;

use leaseline::capability::Value;
use leaseline::message::{
    Delivery, Lease, Outgoing, PublishOutcome, ReleaseOutcome, ReleaseRequest, RenewOutcome,
    SettleOutcome, SettleRequest, Settlement,
};
use leaseline::{Connection, Engine, Error, ErrorKind, Queue, capability::Redis};
use leaseline_redis::testing::{Cut, Fault, FaultProxy, RedisServer, Rule};

const SCRIPTS: [&str; 2] = ["EVALSHA", "EVAL"];

async fn open(proxy: &FaultProxy, engine: Engine, leases: bool) -> Queue {
    Queue::builder("q")
        .redis(proxy.url())
        .engine(engine)
        .configure(|config| {
            config.command_timeout_ms = 2_000;
            config.retry_max_delay_ms = 20;
            if !leases {
                (config.visibility_timeout_ms, config.max_delivery_count) = (None, None);
            }
        })
        .open()
        .await
        .unwrap()
}

fn message(payload: &str, key: Option<&str>) -> Outgoing {
    Outgoing {
        payload: payload.into(),
        deduplication_key: key.map(Into::into),
        ..Outgoing::default()
    }
}

/// Claims until there is an answer; a lost one is asked for again, as a consumer does.
async fn claim(queue: &Queue, max: u32) -> Vec<Delivery> {
    for _ in 0..5 {
        if let Ok(claimed) = queue.claim(max, Duration::ZERO).await {
            return claimed;
        }
    }
    panic!("five claims in a row failed");
}

/// Publishes, claims, renews and settles; every answer must be as if nothing had happened.
async fn work(queue: &Queue, leases: bool, context: &str) {
    let replies = queue
        .publish_all(vec![
            message("a", None),
            message("b", Some("k")),
            message("c", None),
        ])
        .await;
    for reply in replies {
        assert_eq!(reply.outcome, Ok(PublishOutcome::Published), "{context}");
    }
    let replies = queue.publish_all(vec![message("again", Some("k"))]).await;
    assert_eq!(
        replies[0].outcome,
        Ok(PublishOutcome::Duplicate),
        "{context}"
    );

    let mut claimed = claim(queue, 2).await;
    claimed.extend(claim(queue, 2).await);
    let payloads: Vec<_> = claimed
        .iter()
        .map(|delivery| delivery.payload.as_deref().unwrap())
        .collect();
    assert_eq!(payloads, [b"a", b"b", b"c"], "{context}");
    if leases {
        let tokens: Vec<_> = claimed
            .iter()
            .map(|delivery| delivery.lease.token.as_deref().unwrap())
            .collect();
        assert_eq!(
            tokens,
            ["1", "2", "3"],
            "{context}: a token was used up by a second claim"
        );
        assert!(
            claimed.iter().all(|delivery| delivery.delivery_count == 1),
            "{context}"
        );
        let leases = claimed
            .iter()
            .map(|delivery| delivery.lease.clone())
            .collect();
        for renewed in queue.renew(leases).await {
            assert!(
                matches!(renewed, Ok(RenewOutcome::Renewed(_))),
                "{context}: {renewed:?}"
            );
        }
        let request = ReleaseRequest {
            lease: claimed[2].lease.clone(),
            delay_ms: 0,
        };
        let released = queue.release(vec![request]).await;
        assert!(
            matches!(released[..], [Ok(ReleaseOutcome::Released(_))]),
            "{context}: {released:?}"
        );
        claimed[2] = claim(queue, 2).await.remove(0);
        let lease = &claimed[2].lease;
        assert_eq!(
            (lease.token.as_deref(), claimed[2].delivery_count),
            (Some("5"), 2),
            "{context}: it was released twice"
        );
    }
    for (at, delivery) in claimed.iter().enumerate() {
        let settlement = if at == 1 {
            Settlement::Fail
        } else {
            Settlement::Ack
        };
        let request = SettleRequest {
            lease: delivery.lease.clone(),
            settlement,
            reason: None,
        };
        assert_eq!(
            queue.settle(vec![request]).await,
            [Ok(SettleOutcome::Done)],
            "{context}"
        );
    }
    assert!(claim(queue, 5).await.is_empty(), "{context}");
}

/// A refusal leaves no trace, so after a lost reply nobody may know what it refused.
fn refused<T: PartialEq + Debug>(outcome: &Result<T, Error>, stale: &T, context: &str) {
    match outcome {
        Ok(outcome) => assert_eq!(outcome, stale, "{context}"),
        Err(error) => assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{context}: {error}"),
    }
}

/// The same in batches: a reply that is lost for one item changes the answer of none.
async fn work_in_batches(queue: &Queue, context: &str) {
    let replies = queue
        .publish_all(vec![
            message("a", None),
            message("b", Some("k")),
            message("again", Some("k")),
            message("c", None),
            message("d", None),
        ])
        .await;
    let outcomes: Vec<_> = replies.into_iter().map(|reply| reply.outcome).collect();
    use PublishOutcome::{Duplicate, Published};
    assert_eq!(
        outcomes,
        [Published, Published, Duplicate, Published, Published].map(Ok),
        "{context}"
    );

    let claimed = claim(queue, 10).await;
    let told: Vec<_> = claimed
        .iter()
        .map(|delivery| {
            (
                delivery.payload.as_deref().unwrap(),
                delivery.lease.token.as_deref().unwrap(),
            )
        })
        .collect();
    let expected: [(&[u8], &str); 4] = [(b"a", "1"), (b"b", "2"), (b"c", "3"), (b"d", "4")];
    assert_eq!(told, expected, "{context}");
    let [a, b, c, old] = [0, 1, 2, 3].map(|at: usize| claimed[at].lease.clone());

    // The last one is given back and claimed again, so that its first lease is stale.
    let release = |lease: &Lease, delay_ms| ReleaseRequest {
        lease: lease.clone(),
        delay_ms,
    };
    let released = queue.release(vec![release(&old, 0)]).await;
    assert!(matches!(released[..], [Ok(ReleaseOutcome::Released(_))]));
    let d = claim(queue, 10).await.remove(0).lease;
    assert_eq!(d.token.as_deref(), Some("6"), "{context}");

    let renewed = queue
        .renew(vec![
            a.clone(),
            b.clone(),
            old.clone(),
            c.clone(),
            d.clone(),
        ])
        .await;
    use RenewOutcome::Renewed;
    assert!(
        matches!(
            renewed[..],
            [
                Ok(Renewed(_)),
                Ok(Renewed(_)),
                Ok(RenewOutcome::Stale),
                Ok(Renewed(_)),
                Ok(Renewed(_))
            ]
        ),
        "{context}: {renewed:?}"
    );

    const HOUR_MS: u64 = 3_600_000;
    let released = queue
        .release(vec![
            release(&b, HOUR_MS),
            release(&old, HOUR_MS),
            release(&c, HOUR_MS),
        ])
        .await;
    use ReleaseOutcome::Released;
    assert!(
        matches!(released[0], Ok(Released(_))) && matches!(released[2], Ok(Released(_))),
        "{context}: {released:?}"
    );
    refused(&released[1], &ReleaseOutcome::Stale, context);

    let settle = |lease: &Lease, settlement| SettleRequest {
        lease: lease.clone(),
        settlement,
        reason: None,
    };
    let settled = queue
        .settle(vec![
            settle(&a, Settlement::Ack),
            settle(&b, Settlement::Ack),
            settle(&old, Settlement::Fail),
            settle(&d, Settlement::Fail),
        ])
        .await;
    use SettleOutcome::{Done, Stale};
    assert_eq!(settled[..2], [Done, Stale].map(Ok), "{context}");
    // The last one settles its message, so a retry does not find what refused it.
    refused(&settled[2], &Stale, context);
    assert_eq!(settled[3], Ok(Done), "{context}");
    assert!(claim(queue, 5).await.is_empty(), "{context}");
    let stats = loop {
        if let Ok(stats) = queue.stats().await {
            break stats;
        }
    };
    assert_eq!(
        (stats.pending, stats.processing, stats.delayed),
        (0, 0, 2),
        "{context}"
    );
}

/// What may stay: the counter, the deduplication key, and what expires by itself.
async fn check_leftovers(connection: &Connection, context: &str) {
    for key in connection.execute(&[b"KEYS", b"*"], 5_000).await.unwrap() {
        let Value::Bytes(key) = key else {
            panic!("{key:?}")
        };
        let lives = connection.execute(&[b"PTTL", &key], 5_000).await.unwrap();
        let key = String::from_utf8(key).unwrap();
        assert!(
            key == "q::processing:lease_token_counter" || lives != [Value::Int(-1)],
            "{context}: {key} stays behind"
        );
    }
}

async fn every_script_call_in_turn(engine: Engine, fault: Fault) {
    let server = RedisServer::start();
    let direct = Connection::open(&server.url()).await.unwrap();
    for leases in [true, false] {
        let mut faults = 0;
        for number in 1.. {
            let context = format!("{engine:?}, leases {leases}, {fault:?} at script call {number}");
            direct.execute(&[b"FLUSHALL"], 5_000).await.unwrap();
            let proxy = FaultProxy::start(server.port()).await;
            let queue = open(&proxy, engine, leases).await;
            proxy.inject(Rule::nth(number, fault).of(SCRIPTS));
            work(&queue, leases, &context).await;
            check_leftovers(&direct, &context).await;
            if proxy.fired() == 0 {
                break;
            }
            faults += 1;
        }
        assert!(faults >= 8, "only {faults} script calls were disturbed");
    }
}

async fn every_script_call_of_batches_in_turn(engine: Engine, fault: Fault) {
    let server = RedisServer::start();
    let direct = Connection::open(&server.url()).await.unwrap();
    for number in 1.. {
        let context = format!("{engine:?}, batches, {fault:?} at script call {number}");
        direct.execute(&[b"FLUSHALL"], 5_000).await.unwrap();
        let proxy = FaultProxy::start(server.port()).await;
        let queue = open(&proxy, engine, true).await;
        proxy.inject(Rule::nth(number, fault).of(SCRIPTS));
        work_in_batches(&queue, &context).await;
        if proxy.fired() == 0 {
            // Renewals of a batch are one call.
            assert!(number > 18, "only {number} script calls were disturbed");
            break;
        }
    }
}

macro_rules! for_both_engines {
    ($($name:ident: $fault:expr;)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test]
            async fn native() {
                every_script_call_in_turn(Engine::Native, $fault).await;
            }

            #[tokio::test]
            async fn native_in_batches() {
                every_script_call_of_batches_in_turn(Engine::Native, $fault).await;
            }

            #[tokio::test]
            async fn component_in_batches() {
                every_script_call_of_batches_in_turn(Engine::Component, $fault).await;
            }

            #[tokio::test]
            async fn component() {
                every_script_call_in_turn(Engine::Component, $fault).await;
            }
        }
    )*};
}

for_both_engines! {
    a_lost_reply_is_not_noticed: Fault::LoseReply(Cut::Reset);
    a_lost_reply_and_everything_behind_it_is_not_noticed: Fault::LoseReplyAndRest(Cut::Finish);
    a_request_cut_before_it_arrives_is_not_noticed: Fault::CutBefore(Cut::Reset);
    a_request_cut_in_the_middle_is_not_noticed: Fault::CutInside(Cut::Finish);
}

/// A server that is killed and comes back still knows what is delayed, and for how long.
#[tokio::test]
async fn a_delay_survives_a_killed_server() {
    let mut server = RedisServer::builder().durable().start();
    let open = |url| Queue::builder("q").redis(url).open();
    let queue = open(server.url()).await.unwrap();
    queue.publish("later").await.unwrap();
    let request = ReleaseRequest {
        lease: claim(&queue, 1).await.remove(0).lease,
        delay_ms: 3_600_000,
    };
    let released = queue.release(vec![request]).await;
    let [Ok(ReleaseOutcome::Released(due_ms))] = released[..] else {
        panic!("{released:?}")
    };
    drop(queue);
    server.kill9();
    server.restart();

    let queue = open(server.url()).await.unwrap();
    assert!(claim(&queue, 1).await.is_empty());
    assert_eq!(queue.stats().await.unwrap().delayed, 1);
    let direct = Connection::open(&server.url()).await.unwrap();
    let argv: [&[u8]; 5] = [
        b"ZRANGE",
        b"q::processing:lease_deadlines",
        b"0",
        b"-1",
        b"WITHSCORES",
    ];
    let deadlines = direct.execute(&argv, 5_000).await.unwrap();
    assert_eq!(deadlines[1], Value::Bytes(due_ms.to_string().into_bytes()));
}

/// A server that is killed and comes back: the queue goes on by itself.
async fn a_restart(engine: Engine) {
    let mut server = RedisServer::builder().durable().start();
    let queue = Queue::builder("q")
        .redis(server.url())
        .engine(engine)
        .open()
        .await
        .unwrap();
    queue.publish("before").await.unwrap();
    let delivery = claim(&queue, 1).await.remove(0);
    server.kill9();
    let waiting = tokio::spawn({
        let queue = queue.clone();
        async move {
            let request = SettleRequest {
                lease: delivery.lease,
                settlement: Settlement::Ack,
                reason: None,
            };
            (
                queue.settle(vec![request]).await,
                queue.publish("after").await,
            )
        }
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.restart();
    let (settled, published) = waiting.await.unwrap();
    assert_eq!(settled, [Ok(SettleOutcome::Done)]);
    assert_eq!(published, Ok(PublishOutcome::Published));
    assert_eq!(
        claim(&queue, 5).await[0].payload.as_deref(),
        Ok(b"after".as_slice())
    );
}

#[tokio::test]
async fn a_restarted_server_is_found_again_native() {
    a_restart(Engine::Native).await;
}

#[tokio::test]
async fn a_restarted_server_is_found_again_component() {
    a_restart(Engine::Component).await;
}
