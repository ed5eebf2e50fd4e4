use leaseline::capability::Value;
use leaseline::event::Operation;
use leaseline::message::SettleOutcome;
use leaseline::{Engine, ErrorKind};

use crate::suite;
use crate::world::*;

suite! {
    async fn a_poison_message_is_dead_lettered_at_its_limit(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = Some(2)).await;
        publish(&queue, &["poison é \" \\ \n", "good"]).await;
        for delivery in 1..=2 {
            let claimed = claim_one(&queue).await;
            assert_eq!((payload(&claimed), claimed.delivery_count), ("poison é \" \\ \n", delivery));
            world.expire_leases().await;
        }
        queue.take_events().await;
        assert_eq!(payload(&claim_one(&queue).await), "good", "the same call goes on");
        assert_eq!(world.list("q::dlq").await, ["poison é \" \\ \n"]);
        let events = queue.take_events().await.events;
        let operations: Vec<_> = events.iter().map(|event| event.operation).collect();
        assert_eq!(operations, [Operation::ClaimReclaim, Operation::Dlq, Operation::Claim]);
        assert_eq!((events[1].delivery_count, events[1].max_delivery_count), (Some(3), Some(2)));
        assert_eq!(events[1].destination.as_deref(), Some("q::dlq"));
        assert_eq!(queue.stats().await.unwrap().dead_letters, 1);
    }

    async fn bytes_are_dead_lettered_as_they_are(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = Some(1)).await;
        let raw = b"\xff\0\x1e\xfe".to_vec();
        let message = leaseline::message::Outgoing { payload: raw.clone().into(), ..leaseline::message::Outgoing::default() };
        queue.publish_all(vec![message]).await[0].outcome.clone().unwrap();
        world.redis(&["LPUSH", "q::pending", "\u{1e}RMQ1:{broken"]).await;
        assert_eq!(claim(&queue, 2).await.len(), 2);
        world.expire_leases().await;
        assert!(claim(&queue, 2).await.is_empty());
        let letters = world.redis(&["LRANGE", "q::dlq", "0", "-1"]).await;
        assert_eq!(letters.len(), 2);
        assert!(letters.contains(&Value::Bytes(raw)));
        assert!(letters.contains(&Value::Bytes(b"\x1eRMQ1:{broken".to_vec())), "what cannot be unwrapped stays whole");
        assert_eq!(world.keys().await, ["q::dlq", "q::processing:lease_token_counter"]);
    }

    async fn redriven_letters_start_anew_oldest_first(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = Some(1)).await;
        world.redis(&["LPUSH", "q::dlq", "1", "2", "3 é"]).await;
        assert_eq!(queue.redrive(2).await, Ok(2));
        assert_eq!(world.list("q::dlq").await, ["3 é"]);
        let claimed = claim(&queue, 5).await;
        assert_eq!(payloads(&claimed), ["1", "2"]);
        assert!(claimed.iter().all(|delivery| delivery.delivery_count == 1 && delivery.message_id.is_some()));
        assert_eq!(queue.redrive(u64::MAX).await, Ok(1));
        assert_eq!(queue.redrive(5).await, Ok(0));
        let last = claim_one(&queue).await;
        assert_eq!(payload(&last), "3 é");
        assert_eq!(ack(&queue, &last).await, SettleOutcome::Done);
    }

    async fn hundreds_of_letters_are_redriven_in_batches(world: World) {
        let queue = world.queue(|_| ()).await;
        let texts: Vec<String> = (0..250).map(|n| n.to_string()).collect();
        for text in &texts {
            world.redis(&["LPUSH", "q::dlq", text]).await;
        }
        assert_eq!(queue.redrive(u64::MAX).await, Ok(250));
        assert_eq!(payloads(&claim(&queue, 3).await), ["0", "1", "2"]);
        assert_eq!(world.list("q::pending").await.len(), 247);
    }

    async fn without_a_limit_there_are_no_dead_letters(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = None).await;
        publish(&queue, &["a"]).await;
        for delivery in 1..=15 {
            assert_eq!(claim_one(&queue).await.delivery_count, delivery);
            world.expire_leases().await;
        }
        assert_eq!(queue.redrive(1).await.unwrap_err().kind, ErrorKind::Configuration);
    }
}
