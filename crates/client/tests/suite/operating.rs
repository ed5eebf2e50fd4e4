use leaseline::capability::Value;
use leaseline::config::{Log, OverloadPolicy};
use leaseline::event::{Operation, Outcome};
use leaseline::message::{List, Peeked, ReleaseRequest, SettleOutcome, Stats};
use leaseline::{Config, Engine, ErrorKind};

use crate::suite;
use crate::world::*;

suite! {
    async fn stats_count_every_list(world: World) {
        let queue = world.queue(|config| (config.completed, config.failed) = (Log::Unbounded, Log::Unbounded)).await;
        publish(&queue, &["1", "2", "3", "4"]).await;
        let claimed = claim(&queue, 3).await;
        ack(&queue, &claimed[0]).await;
        fail(&queue, &claimed[1]).await;
        world.redis(&["LPUSH", "q::dlq", "x", "y"]).await;
        let stats = queue.stats().await.unwrap();
        assert_eq!(stats, Stats { pending: 1, processing: 1, completed: 1, failed: 1, dead_letters: 2, ..Stats::default() });
    }

    async fn a_peek_shows_the_newest_first_and_takes_nothing(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["1", "2", "3", "4"]).await;
        let claimed = claim(&queue, 2).await;
        let [held, given_up] = claimed.as_slice() else { panic!("{claimed:?}") };
        queue.release(vec![ReleaseRequest { lease: given_up.lease.clone(), delay_ms: 60_000 }]).await.remove(0).unwrap();
        let pending = queue.peek(List::Pending, 9).await.unwrap();
        let payloads = |peeked: &[Peeked]| peeked.iter().map(|p| String::from_utf8(p.payload.clone().unwrap()).unwrap()).collect::<Vec<_>>();
        assert_eq!(payloads(&pending), ["4", "3"]);
        assert!(pending.iter().all(|p| p.message_id.is_some() && p.delivery_count == 0 && p.deadline_ms.is_none() && !p.delayed));
        assert_eq!(payloads(&queue.peek(List::Pending, 1).await.unwrap()), ["4"]);
        let processing = queue.peek(List::Processing, 9).await.unwrap();
        assert_eq!(payloads(&processing), ["2", "1"]);
        assert_eq!(processing.iter().map(|p| p.delayed).collect::<Vec<_>>(), [true, false]);
        assert_eq!(processing[1].message_id, held.message_id);
        assert_eq!(processing[1].deadline_ms, held.lease.deadline_ms);
        assert!(processing.iter().all(|p| p.remaining_ms > Some(0) && p.delivery_count == 1));
        world.expire_leases().await;
        let overdue = queue.peek(List::Processing, 9).await.unwrap();
        assert!(overdue.iter().all(|p| p.remaining_ms < Some(0)), "{overdue:?}");
        for max in [0, 1_001] {
            assert_eq!(queue.peek(List::Pending, max).await.unwrap_err().kind, ErrorKind::InvalidArgument);
        }
        assert_eq!(queue.peek(List::DeadLetters, 9).await.unwrap(), []);
    }

    async fn a_purge_removes_what_was_there_and_its_counts(world: World) {
        let queue = world.queue(|_| ()).await;
        let payloads: Vec<String> = (0..250).map(|n| n.to_string()).collect();
        publish(&queue, &payloads.iter().map(String::as_str).collect::<Vec<_>>()).await;
        assert_eq!(claim(&queue, 2).await.len(), 2);
        world.expire_leases().await;
        // Both come back, and one is taken again.
        let held = claim_one(&queue).await;
        assert_eq!(queue.purge(List::Pending).await, Ok(249));
        assert_eq!(world.redis(&["HLEN", "q::processing:delivery_counts"]).await, [Value::Int(1)]);
        assert_eq!(queue.purge(List::Processing).await.unwrap_err().kind, ErrorKind::InvalidArgument);
        assert_eq!(ack(&queue, &held).await, SettleOutcome::Done);
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
        for (list, key) in [(List::Completed, "q::completed"), (List::Failed, "q::failed"), (List::DeadLetters, "q::dlq")] {
            world.redis(&["LPUSH", key, "a", "b"]).await;
            assert_eq!(queue.purge(list).await, Ok(2));
            assert_eq!(queue.purge(list).await, Ok(0));
        }
    }

    async fn events_tell_what_happened_in_order(world: World) {
        let queue = world.queue(|config| config.completed = Log::Capped(1)).await;
        queue.publish_all(vec![keyed("a", "k"), keyed("b", "k")]).await;
        let delivery = claim_one(&queue).await;
        ack(&queue, &delivery).await;
        ack(&queue, &delivery).await;
        claim(&queue, 1).await;
        let batch = queue.take_events().await;
        let seen: Vec<_> = batch.events.iter().map(|event| (event.operation, event.outcome)).collect();
        assert_eq!(seen, [
            (Operation::Publish, Outcome::Success),
            (Operation::PublishDedupHit, Outcome::Skipped),
            (Operation::Claim, Outcome::Success),
            (Operation::Completed, Outcome::Success),
            (Operation::Ack, Outcome::Success),
            (Operation::Completed, Outcome::Skipped),
            (Operation::Ack, Outcome::Skipped),
            (Operation::StaleLeaseAck, Outcome::Skipped),
            (Operation::ClaimEmpty, Outcome::Skipped),
        ]);
        assert_eq!(batch.events[2].lease_token_hash.as_deref(), Some("6b86b273ff34fce1"));
        assert_eq!(batch.events[2].message_id, delivery.message_id);
        assert_eq!(batch.dropped, 0);
        assert!(queue.take_events().await.events.is_empty());
    }

    async fn a_full_event_buffer_drops_the_oldest_and_counts(world: World) {
        let queue = world.queue(|config| config.event_buffer = 2).await;
        publish(&queue, &["1", "2", "3", "4", "5"]).await;
        let batch = queue.take_events().await;
        assert_eq!((batch.events.len(), batch.dropped), (2, 3));
    }

    async fn configurations_that_cannot_work_are_refused(world: World) {
        type Change = fn(&mut Config);
        let changes: [(&str, Change); 21] = [
            ("blank", |config| config.name = " \n".into()),
            ("NUL", |config| config.name = "a\0b".into()),
            ("contains the key separator", |config| config.name = "a::b".into()),
            ("separator is blank", |config| config.key_separator = String::new()),
            ("max_payload_bytes", |config| config.max_payload_bytes = Some(0)),
            ("max_completed_length", |config| config.completed = Log::Capped(0)),
            ("max_failed_length", |config| config.failed = Log::Capped(0)),
            ("max_delivery_count", |config| config.max_delivery_count = Some(0)),
            ("max_pending_length", |config| config.max_pending_length = Some(0)),
            ("needs a visibility timeout", |config| config.visibility_timeout_ms = None),
            ("needs max_delivery_count", |config| {
                config.max_delivery_count = None;
                config.dead_letter_queue = Some("dead".into());
            }),
            ("dead_letter_queue is blank", |config| config.dead_letter_queue = Some(" ".into())),
            ("own keys", |config| config.dead_letter_queue = Some("q::pending".into())),
            ("own keys", |config| config.dead_letter_queue = Some("q::processing:lease_tokens".into())),
            ("needs max_pending_length", |config| config.overload_policy = OverloadPolicy::Block),
            ("drop_oldest removes", |config| {
                config.max_pending_length = Some(1);
                config.overload_policy = OverloadPolicy::DropOldest;
            }),
            ("visibility_timeout_ms is 0", |config| config.visibility_timeout_ms = Some(0)),
            ("ten years", |config| config.visibility_timeout_ms = Some(u64::MAX)),
            ("deduplication_ttl_ms", |config| config.deduplication_ttl_ms = 0),
            ("retry_initial_delay_ms", |config| config.retry_initial_delay_ms = 6_000),
            ("hash tag", |config| config.cluster = true),
        ];
        for (text, change) in changes {
            let error = world.try_queue(change).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Configuration, "{text}");
            assert!(error.message.contains(text), "{text}: {error}");
        }
        assert_eq!(world.keys().await, [""; 0]);
    }

    async fn queues_do_not_touch_each_other(world: World) {
        let queue = world.queue(|_| ()).await;
        let other = world.queue(|config| config.name = "other".into()).await;
        publish(&queue, &["a"]).await;
        assert!(claim(&other, 1).await.is_empty());
        let separated = world.queue(|config| {
            config.name = "{t:1}".into();
            config.key_separator = "/".into();
            config.cluster = true;
        }).await;
        separated.publish_all(vec![keyed("x", "k::/x")]).await[0].outcome.clone().unwrap();
        assert_eq!(world.keys().await, ["q::pending", "{t:1}/deduplication/k::/x", "{t:1}/pending"]);
    }
}
