use std::time::Duration;

use leaseline::event::{Operation, Outcome};
use leaseline::message::{
    Outgoing, PublishOutcome, ReleaseOutcome, ReleaseRequest, RenewOutcome, SettleOutcome, Stats,
};
use leaseline::{Engine, ErrorKind, Message};

use crate::suite;
use crate::world::*;

const HOUR_MS: u64 = 3_600_000;

suite! {
    async fn a_released_message_comes_back_when_it_is_due_and_not_before(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let first = claim_one(&queue).await;
        let began = world.now_ms().await;
        let due = release(&queue, &first, 300).await;
        assert!(due >= began + 300);
        let second = queue.claim(1, Duration::from_secs(20)).await.unwrap().pop().expect("it comes back");
        assert!(world.now_ms().await >= due, "nobody gets it earlier");
        assert_eq!(second.message_id, first.message_id);
        assert_eq!((payload(&second), second.delivery_count), ("a", 2));
        assert!(token(&second) > token(&first));
        assert_eq!(ack(&queue, &second).await, SettleOutcome::Done);
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
    }

    async fn a_message_for_later_is_claimed_when_it_is_due_and_not_before(world: World) {
        let queue = world.queue(|_| ()).await;
        let began = world.now_ms().await;
        let later = Message::text("later").delay(Duration::from_millis(300));
        assert_eq!(queue.publish(later).await, Ok(PublishOutcome::Published));
        publish(&queue, &["now"]).await;
        assert_eq!(payload(&claim_one(&queue).await), "now");
        let delivery = queue.claim(1, Duration::from_secs(20)).await.unwrap().pop().expect("it is due");
        assert!(world.now_ms().await >= began + 300, "nobody gets it earlier");
        assert_eq!((payload(&delivery), delivery.delivery_count), ("later", 1));
        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done);
        assert_eq!(counts(&queue).await, Stats { processing: 1, ..Stats::default() });
    }

    async fn messages_for_later_are_neither_pending_nor_in_work(world: World) {
        let queue = world.queue(|config| config.max_pending_length = Some(1)).await;
        let messages = vec![
            Outgoing { delay_ms: HOUR_MS, ..outgoing("a") },
            outgoing("b"),
            Outgoing { delay_ms: HOUR_MS, ..keyed("c", "k") },
            Outgoing { delay_ms: HOUR_MS, ..keyed("c again", "k") },
            outgoing("d"),
        ];
        let outcomes: Vec<_> = queue.publish_all(messages).await.into_iter().map(|reply| reply.outcome).collect();
        assert_eq!(outcomes[..4], [
            Ok(PublishOutcome::Published),
            Ok(PublishOutcome::Published),
            Ok(PublishOutcome::Published),
            Ok(PublishOutcome::Duplicate),
        ]);
        assert_eq!(outcomes[4].as_ref().unwrap_err().kind, ErrorKind::Backpressure, "one is pending");
        assert_eq!(queue.stats().await.unwrap(), Stats { pending: 1, delayed: 2, ..Stats::default() });
        assert_eq!(payloads(&claim(&queue, 5).await), ["b"]);
        assert_eq!(queue.drain(Duration::from_secs(5)).await, Ok(true));
        let fresh = world.queue(|_| ()).await;
        world.expire_leases().await;
        let mut due = claim(&fresh, 5).await;
        due.retain(|delivery| payload(delivery) != "b");
        assert_eq!(due.len(), 2);
        assert!(due.iter().all(|delivery| delivery.delivery_count == 1));
    }

    async fn without_a_delay_it_comes_back_at_once(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b"]).await;
        let first = claim_one(&queue).await;
        release(&queue, &first, 0).await;
        assert_eq!(payloads(&claim(&queue, 2).await), ["a", "b"], "before younger ones");
    }

    async fn a_delay_outlives_every_queue_object(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        release(&queue, &delivery, HOUR_MS).await;
        drop(queue);
        let fresh = world.queue(|_| ()).await;
        assert!(claim(&fresh, 1).await.is_empty());
        assert_eq!(fresh.drain(Duration::from_secs(5)).await, Ok(true));
        let fresh = world.queue(|_| ()).await;
        world.expire_leases().await;
        let again = claim_one(&fresh).await;
        assert_eq!((again.delivery_count, token(&again)), (2, 3), "tokens did not start again");
    }

    async fn the_old_holder_is_refused_from_then_on(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let old = claim_one(&queue).await;
        release(&queue, &old, HOUR_MS).await;
        for claimed_again in [false, true] {
            if claimed_again {
                world.expire_leases().await;
                assert_eq!(payload(&claim_one(&queue).await), "a");
            }
            let before = world.redis(&["ZRANGE", "q::processing:lease_deadlines", "0", "-1", "WITHSCORES"]).await;
            assert_eq!(ack(&queue, &old).await, SettleOutcome::Stale);
            assert_eq!(fail(&queue, &old).await, SettleOutcome::Stale);
            assert_eq!(queue.renew(vec![old.lease.clone()]).await, [Ok(RenewOutcome::Stale)]);
            assert_eq!(try_release(&queue, &old.lease, 1).await, Ok(ReleaseOutcome::Stale));
            let after = world.redis(&["ZRANGE", "q::processing:lease_deadlines", "0", "-1", "WITHSCORES"]).await;
            assert_eq!(before, after);
            assert_eq!(world.list("q::processing").await.len(), 1);
        }
    }

    async fn stats_tell_delayed_messages_from_those_in_work(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["1", "2", "3", "4"]).await;
        let claimed = claim(&queue, 3).await;
        release(&queue, &claimed[1], HOUR_MS).await;
        let told = queue.stats().await.unwrap();
        let ends = (told.next_lease_end_ms, told.last_lease_end_ms);
        // Claimed by one call, and both within the visibility timeout; the delay is longer.
        assert!(ends.0.is_some_and(|end| end <= 300_000) && ends.0 == ends.1, "{told:?}");
        let expected = Stats { pending: 1, processing: 2, delayed: 1, next_lease_end_ms: ends.0, last_lease_end_ms: ends.1, ..Stats::default() };
        assert_eq!(told, expected);

        // A lease that runs out is told, with its age, until a claim meets it.
        let hasty = world.queue(|config| config.visibility_timeout_ms = Some(1)).await;
        let short = claim_one(&hasty).await;
        let overdue = loop {
            let stats = queue.stats().await.unwrap();
            if stats.overdue > 0 {
                break stats;
            }
        };
        let age = overdue.oldest_overdue_ms.expect("an age");
        assert!(age <= world.now_ms().await - short.lease.deadline_ms.unwrap());
        assert_eq!(
            overdue,
            Stats {
                processing: 3,
                delayed: 1,
                overdue: 1,
                oldest_overdue_ms: Some(age),
                next_lease_end_ms: overdue.next_lease_end_ms,
                last_lease_end_ms: overdue.last_lease_end_ms,
                ..Stats::default()
            }
        );
        assert_eq!(payload(&claim_one(&queue).await), "4");
        assert_eq!(counts(&queue).await, Stats { processing: 3, delayed: 1, ..Stats::default() });
    }

    async fn a_batch_is_released_one_by_one(world: World) {
        let queue = world.queue(|_| ()).await;
        let texts: Vec<String> = (0..250).map(|n| n.to_string()).collect();
        publish(&queue, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let mut claimed = Vec::new();
        while claimed.len() < texts.len() {
            claimed.extend(claim(&queue, 100).await);
        }
        assert_eq!(ack(&queue, &claimed[7]).await, SettleOutcome::Done);
        let requests = claimed
            .iter()
            .map(|delivery| ReleaseRequest { lease: delivery.lease.clone(), delay_ms: HOUR_MS })
            .collect();
        let outcomes = queue.release(requests).await;
        assert_eq!(outcomes.len(), 250);
        for (at, outcome) in outcomes.into_iter().enumerate() {
            assert_eq!(outcome.unwrap() == ReleaseOutcome::Stale, at == 7, "{at}");
        }
        assert_eq!(queue.stats().await.unwrap(), Stats { delayed: 249, ..Stats::default() });
    }

    async fn a_queue_without_leases_cannot_delay(world: World) {
        let queue = world.queue(without_leases).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        let before = world.keys().await;
        let error = try_release(&queue, &delivery.lease, 1).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Configuration);
        assert!(error.message.contains("set a visibility timeout"), "{error}");
        let reply = queue.publish(Message::text("b").delay(Duration::from_secs(1))).await;
        assert_eq!(reply.unwrap_err().kind, ErrorKind::Configuration);
        assert_eq!(world.keys().await, before);
        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done);
    }

    async fn delays_beyond_ten_years_are_refused(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        for delay_ms in [10 * 366 * 24 * HOUR_MS + 1, u64::MAX] {
            let error = try_release(&queue, &delivery.lease, delay_ms).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::InvalidArgument);
            assert_eq!(error.message_id, delivery.message_id);
            let reply = queue.publish_all(vec![Outgoing { delay_ms, ..outgoing("b") }]).await.remove(0);
            assert_eq!(reply.outcome.unwrap_err().kind, ErrorKind::InvalidArgument);
        }
        let began = world.now_ms().await;
        assert!(release(&queue, &delivery, 10 * 366 * 24 * HOUR_MS).await >= began + 10 * 366 * 24 * HOUR_MS);
    }

    async fn a_release_is_told_as_a_nack(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        queue.take_events().await;
        release(&queue, &delivery, 1).await;
        try_release(&queue, &delivery.lease, 1).await.unwrap();
        let events = queue.take_events().await.events;
        let seen: Vec<_> = events.iter().map(|event| (event.operation, event.outcome)).collect();
        assert_eq!(seen, [
            (Operation::Nack, Outcome::Success),
            (Operation::Nack, Outcome::Skipped),
            (Operation::StaleLeaseNack, Outcome::Skipped),
        ]);
        assert!(events.iter().all(|event| event.message_id == delivery.message_id));
    }
}
