use std::task::Poll;
use std::time::Duration;

use leaseline::capability::{PipelineReply, Redis, RedisError, Reply, Value};
use leaseline::message::{Delivery, RenewOutcome, SettleOutcome};
use leaseline::{Connection, Engine, ErrorKind, Queue};

use crate::suite;
use crate::world::*;

/// A host that takes replies up to a size.
struct Narrow {
    inner: Connection,
    limit: usize,
}

impl Redis for Narrow {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        let values = self.inner.execute(argv, timeout_ms).await?;
        let size: usize = values
            .iter()
            .map(|value| {
                if let Value::Bytes(bytes) = value {
                    bytes.len()
                } else {
                    0
                }
            })
            .sum();
        if size > self.limit {
            Err(RedisError::TooLarge(size as u64))
        } else {
            Ok(values)
        }
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.inner.pipeline(commands, timeout_ms).await
    }
}

/// A connection whose commands suspend before and after they run.
#[derive(Clone)]
struct Slow(Connection);

impl Redis for Slow {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        tokio::task::yield_now().await;
        let reply = self.0.execute(argv, timeout_ms).await;
        tokio::task::yield_now().await;
        reply
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        tokio::task::yield_now().await;
        let replies = self.0.pipeline(commands, timeout_ms).await;
        tokio::task::yield_now().await;
        replies
    }
}

/// What the call gave before it was dropped, after at most so many polls.
async fn cut<T>(call: impl Future<Output = T>, polls: usize) -> Option<T> {
    let mut call = Box::pin(call);
    for _ in 0..polls {
        let polled = std::future::poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await;
        if let Poll::Ready(answer) = polled {
            return Some(answer);
        }
        tokio::task::yield_now().await;
    }
    None
}

const HOUR: Duration = Duration::from_secs(3_600);

/// What the next claim gets, far sooner than a lease of 300 s would end.
async fn soon(queue: &Queue) -> Vec<Delivery> {
    let claimed = tokio::time::timeout(Duration::from_secs(60), queue.claim(1, HOUR)).await;
    claimed.expect("a claimed message was forgotten").unwrap()
}

suite! {
    async fn a_claim_that_is_dropped_at_any_point_keeps_its_message_for_the_next(world: World) {
        for leases in [true, false] {
            let slow = Connection::new(Slow(world.connection.clone()));
            let queue = Queue::builder("q").connection(slow).engine(world.engine).configure(|config| {
                if !leases {
                    without_leases(config);
                }
            }).open().await.unwrap();
            let mut finished = 0;
            // At every one of the first points, then further and further in.
            let points = (0..30).chain((5..19).map(|power| 1 << power));
            for (polls, wait) in points.flat_map(|polls| [(polls, Duration::ZERO), (polls, HOUR)]) {
                let context = format!("leases {leases}, wait {wait:?}, dropped after {polls} polls");
                publish(&queue, &["a"]).await;
                let mut claimed = match cut(queue.claim(1, wait), polls).await {
                    Some(claimed) => {
                        finished += 1;
                        claimed.unwrap()
                    }
                    None => Vec::new(),
                };
                if claimed.is_empty() {
                    // Far sooner than the lease of 300 s would end.
                    claimed = soon(&queue).await;
                }
                assert_eq!(payloads(&claimed), ["a"], "{context}");
                assert_eq!(claimed[0].delivery_count, u64::from(leases), "{context}: claimed again");
                assert_eq!(ack(&queue, &claimed[0]).await, SettleOutcome::Done, "{context}");
                assert!(claim(&queue, 1).await.is_empty(), "{context}");
            }
            assert!(finished > 1, "no call ended before it was dropped");
            world.redis(&["FLUSHALL"]).await;
        }
    }

    async fn a_sleeping_claim_that_is_dropped_when_it_is_woken_keeps_its_message(world: World) {
        let queue = world.queue(|_| ()).await;
        for polls in 0..40 {
            let mut call = Box::pin(queue.claim(1, HOUR));
            // It finds nothing and sleeps.
            tokio::select! {
                biased;
                claimed = &mut call => panic!("{claimed:?}"),
                () = tokio::time::sleep(Duration::from_millis(20)) => {}
            }
            publish(&queue, &["a"]).await;
            let claimed = match cut(call, polls).await {
                Some(claimed) => claimed.unwrap(),
                None => soon(&queue).await,
            };
            assert_eq!(payloads(&claimed), ["a"], "dropped after {polls} polls");
            assert_eq!(ack(&queue, &claimed[0]).await, SettleOutcome::Done);
        }
    }

    async fn messages_come_in_order_each_with_a_larger_token(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b", "c"]).await;
        let one = claim(&queue, 1).await;
        let rest = claim(&queue, 10).await;
        assert_eq!((payloads(&one), payloads(&rest)), (vec!["a"], vec!["b", "c"]));
        let tokens: Vec<u64> = one.iter().chain(&rest).map(token).collect();
        assert_eq!(tokens, [1, 2, 3]);
        assert!(one.iter().chain(&rest).all(|delivery| delivery.delivery_count == 1 && !delivery.replayed));
        assert!(claim(&queue, 1).await.is_empty());
    }

    async fn an_empty_claim_leaves_nothing(world: World) {
        let queue = world.queue(|_| ()).await;
        assert!(claim(&queue, 100).await.is_empty());
        assert!(queue.claim(1, Duration::from_millis(300)).await.unwrap().is_empty());
        assert_eq!(world.keys().await, [""; 0]);
    }

    async fn a_claim_waits_for_a_message(world: World) {
        let queue = world.queue(|_| ()).await;
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { queue.claim(1, Duration::from_secs(20)).await.unwrap() }
        });
        tokio::time::sleep(Duration::from_millis(50)).await;
        publish(&queue, &["late"]).await;
        assert_eq!(payloads(&waiting.await.unwrap()), ["late"]);
    }

    /// Key for key what `redis-message-queue` 8.3.0 writes for a claim.
    async fn a_claim_writes_the_recorded_keys(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["poison"]).await;
        let delivery = claim_one(&queue).await;
        let stored = String::from_utf8(delivery.lease.stored.clone()).unwrap();
        let keys = world.keys().await;
        let (results, others): (Vec<_>, Vec<_>) =
            keys.into_iter().partition(|key| key.starts_with("q::processing:claim_result:"));
        assert_eq!(others, [
            "q::processing",
            "q::processing:claim_result_backrefs",
            "q::processing:claim_result_ids",
            "q::processing:claim_result_refs",
            "q::processing:delivery_counts",
            "q::processing:lease_deadlines",
            "q::processing:lease_token_counter",
            "q::processing:lease_tokens",
        ]);
        let result = &results[0];
        let id = result.rsplit(':').next().unwrap();
        let record = format!(
            "[\"\\u001eRMQ1:{{\\\"id\\\":\\\"{}\\\",\\\"payload\\\":\\\"poison\\\"}}\",\"1\"]",
            delivery.message_id.as_deref().unwrap()
        );
        let string = |text: &str| Value::Bytes(text.into());
        assert_eq!(world.redis(&["GET", result]).await, [string(&record)]);
        for (hash, field, value) in [
            ("claim_result_ids", id, record.as_str()),
            ("claim_result_backrefs", "1", id),
            ("claim_result_refs", "1", result.as_str()),
            ("lease_tokens", stored.as_str(), "1"),
            ("delivery_counts", stored.as_str(), "1"),
        ] {
            let key = format!("q::processing:{hash}");
            assert_eq!(world.redis(&["HGETALL", &key]).await, [string(field), string(value)], "{hash}");
        }
        let score = world.redis(&["ZSCORE", "q::processing:lease_deadlines", &stored]).await;
        assert_eq!(score, [string(&delivery.lease.deadline_ms.unwrap().to_string())]);
        let Value::Int(ttl) = world.redis(&["PTTL", result]).await[0] else { panic!("no TTL") };
        assert!((290_000..=300_000).contains(&ttl), "{ttl}");
    }

    async fn an_expired_lease_passes_on_and_its_token_is_powerless(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "fresh"]).await;
        let old = claim_one(&queue).await;
        world.expire_leases().await;
        let new = claim_one(&queue).await;
        assert_eq!(payload(&new), "a", "reclaimed messages come before fresh ones");
        assert!(token(&new) > token(&old));
        assert_eq!(new.delivery_count, 2);
        let before = world.redis(&["ZRANGE", "q::processing:lease_deadlines", "0", "-1", "WITHSCORES"]).await;
        assert_eq!(ack(&queue, &old).await, SettleOutcome::Stale);
        assert_eq!(fail(&queue, &old).await, SettleOutcome::Stale);
        assert_eq!(queue.renew(vec![old.lease]).await, [Ok(RenewOutcome::Stale)]);
        let after = world.redis(&["ZRANGE", "q::processing:lease_deadlines", "0", "-1", "WITHSCORES"]).await;
        assert_eq!(before, after, "a stale holder changes nothing");
        assert_eq!(ack(&queue, &new).await, SettleOutcome::Done);
    }

    async fn a_renewed_lease_does_not_expire(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        world.expire_leases().await;
        let renewed = queue.renew(vec![delivery.lease.clone()]).await;
        let Ok(RenewOutcome::Renewed(deadline)) = renewed[0] else { panic!("{renewed:?}") };
        assert!(deadline >= delivery.lease.deadline_ms.unwrap());
        assert!(claim(&queue, 1).await.is_empty());
        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done);
    }

    async fn more_than_a_hundred_expired_leases_come_back_in_rounds(world: World) {
        let queue = world.queue(|_| ()).await;
        let texts: Vec<String> = (0..250).map(|n| n.to_string()).collect();
        publish(&queue, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        while !claim(&queue, 100).await.is_empty() {}
        world.expire_leases().await;
        let mut back = Vec::new();
        loop {
            let claimed = claim(&queue, 100).await;
            if claimed.is_empty() {
                break;
            }
            back.extend(claimed.iter().map(|delivery| payload(delivery).parse::<u32>().unwrap()));
        }
        back.sort_unstable();
        assert_eq!(back, (0..250).collect::<Vec<_>>());
    }

    async fn equal_elements_of_a_foreign_writer_are_claimed_in_turn(world: World) {
        let queue = world.queue(|_| ()).await;
        world.redis(&["LPUSH", "q::pending", "tick", "tick"]).await;
        let first = claim(&queue, 2).await;
        assert_eq!(payloads(&first), ["tick"], "both would share one lease");
        assert_eq!(ack(&queue, &first[0]).await, SettleOutcome::Done);
        let second = claim_one(&queue).await;
        assert_eq!(ack(&queue, &second).await, SettleOutcome::Done);
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
    }

    async fn equal_elements_that_another_consumer_took_at_once_are_not_stuck(world: World) {
        // What redis-message-queue leaves behind: two copies in processing under one lease.
        let queue = world.queue(|_| ()).await;
        world.redis(&["LPUSH", "q::pending", "tick"]).await;
        let first = claim_one(&queue).await;
        world.redis(&["LPUSH", "q::processing", "tick"]).await;
        assert_eq!(ack(&queue, &first).await, SettleOutcome::Done);
        let second = claim_one(&queue).await;
        assert_eq!(payload(&second), "tick");
        assert_eq!(ack(&queue, &second).await, SettleOutcome::Done);
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
    }

    async fn a_malformed_message_hides_no_other(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["before"]).await;
        world.redis(&["LPUSH", "q::pending", "\u{1e}RMQ1:{broken"]).await;
        publish(&queue, &["after"]).await;
        let claimed = claim(&queue, 10).await;
        assert_eq!(payload(&claimed[0]), "before");
        assert_eq!(claimed[1].payload.as_ref().unwrap_err().kind, ErrorKind::MalformedMessage);
        assert_eq!(payload(&claimed[2]), "after");
        // It can be settled like any other.
        assert_eq!(fail(&queue, &claimed[1]).await, SettleOutcome::Done);
    }

    async fn strict_decoding_refuses_elements_without_envelope(world: World) {
        let queue = world.queue(|config| config.strict_envelope_decoding = true).await;
        world.redis(&["LPUSH", "q::pending", "raw"]).await;
        assert_eq!(claim_one(&queue).await.payload.unwrap_err().kind, ErrorKind::MalformedMessage);
    }

    async fn wrong_typed_keys_fail_closed(world: World) {
        let queue = world.queue(|_| ()).await;
        for key in [
            "q::processing", "q::dlq", "q::processing:lease_deadlines", "q::processing:lease_tokens",
            "q::processing:delivery_counts", "q::processing:claim_result_refs",
            "q::processing:claim_result_ids", "q::processing:claim_result_backrefs",
        ] {
            publish(&queue, &["a"]).await;
            world.redis(&["SET", key, "foreign"]).await;
            let error = queue.claim(1, Duration::ZERO).await.unwrap_err();
            assert_eq!(error.code.as_deref(), Some("WRONGTYPE"), "{key}: {error}");
            assert_eq!(world.list("q::pending").await.len(), 1, "{key}");
            assert_eq!(world.redis(&["GET", key]).await, [Value::Bytes(b"foreign".to_vec())]);
            world.redis(&["DEL", key, "q::pending"]).await;
        }
    }

    async fn a_counter_that_is_no_number_returns_the_message(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["m"]).await;
        world.redis(&["SET", "q::processing:lease_token_counter", "nope"]).await;
        for _ in 0..3 {
            let error = queue.claim(1, Duration::ZERO).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::ClaimStoreFailed);
            assert!(error.message.contains("not an integer"), "{error}");
            assert_eq!(world.keys().await, ["q::pending", "q::processing:lease_token_counter"]);
        }
        world.redis(&["DEL", "q::processing:lease_token_counter"]).await;
        assert_eq!(claim_one(&queue).await.delivery_count, 1, "failed claims do not count");
    }

    async fn tokens_stay_exact_beyond_two_to_the_53(world: World) {
        let queue = world.queue(|_| ()).await;
        world.redis(&["SET", "q::processing:lease_token_counter", "9007199254740990"]).await;
        publish(&queue, &["a", "b", "c"]).await;
        let tokens: Vec<u64> = claim(&queue, 3).await.iter().map(token).collect();
        assert_eq!(tokens, [9_007_199_254_740_991, 9_007_199_254_740_992, 9_007_199_254_740_993]);
    }

    async fn claims_too_large_for_the_host_are_fetched_in_parts(world: World) {
        let narrow = Narrow { inner: world.connection.clone(), limit: 3_500 };
        let queue = Queue::builder("q")
            .connection(Connection::new(narrow))
            .engine(world.engine)
            .open()
            .await
            .unwrap();
        let large = |letter: &str, size| letter.repeat(size);
        let texts = [large("a", 1_000), large("b", 1_000), large("c", 1_000), large("d", 10_000), large("e", 1_000)];
        publish(&queue, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let (mut letters, mut refused) = (String::new(), 0);
        for _ in 0..10 {
            match queue.claim(5, Duration::ZERO).await {
                Ok(claimed) => {
                    for delivery in claimed {
                        letters.push_str(&payload(&delivery)[..1]);
                        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done);
                    }
                }
                Err(error) => {
                    assert_eq!(error.kind, ErrorKind::PayloadTooLarge);
                    refused += 1;
                }
            }
        }
        assert_eq!((letters.as_str(), refused), ("abce", 1), "the large one is left to its lease");
        assert_eq!(queue.stats().await.unwrap().processing, 1);
    }

    async fn hundreds_of_poison_messages_hide_no_live_one(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = Some(1)).await;
        let texts: Vec<String> = (0..250).map(|n| n.to_string()).collect();
        publish(&queue, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        while !claim(&queue, 100).await.is_empty() {}
        publish(&queue, &["live"]).await;
        world.expire_leases().await;
        assert_eq!(payload(&claim_one(&queue).await), "live");
        assert_eq!(queue.stats().await.unwrap().dead_letters, 250);
    }

    async fn a_claim_takes_one_to_a_hundred(world: World) {
        let queue = world.queue(|_| ()).await;
        for max in [0, 101, u32::MAX] {
            let error = queue.claim(max, Duration::ZERO).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::InvalidArgument);
        }
    }

    async fn without_leases_a_claim_is_final(world: World) {
        let queue = world.queue(without_leases).await;
        publish(&queue, &["hello", "bye"]).await;
        let claimed = claim(&queue, 5).await;
        assert_eq!(payloads(&claimed), ["hello", "bye"]);
        assert!(claimed.iter().all(|delivery| delivery.lease.token.is_none()));
        assert_eq!(world.keys().await, [
            "q::processing", "q::processing:claim_result_backrefs", "q::processing:claim_result_ids",
        ]);
        assert_eq!(ack(&queue, &claimed[0]).await, SettleOutcome::Done);
        assert_eq!(ack(&queue, &claimed[0]).await, SettleOutcome::Stale, "the second time it is gone");
        assert_eq!(fail(&queue, &claimed[1]).await, SettleOutcome::Done);
        assert_eq!(world.keys().await, [""; 0]);
    }
}
