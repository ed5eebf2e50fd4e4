use leaseline::config::OverloadPolicy;
use leaseline::message::{Outgoing, PublishOutcome};
use leaseline::{Engine, ErrorKind, Retry};

use crate::suite;
use crate::world::*;

suite! {
    async fn a_message_is_stored_in_its_envelope(world: World) {
        let queue = world.queue(|_| ()).await;
        let replies = queue.publish_all(vec![outgoing("plain/é"), outgoing("")]).await;
        let (first, second) = (&replies[0].message_id, &replies[1].message_id);
        assert_eq!(world.list("q::pending").await, [
            format!("\u{1e}RMQ1:{{\"id\":\"{second}\",\"payload\":\"\"}}"),
            format!("\u{1e}RMQ1:{{\"id\":\"{first}\",\"payload\":\"plain/\\u00e9\"}}"),
        ]);
        assert_eq!(world.keys().await, ["q::pending"], "no marker stays behind");
        assert_eq!(first.len(), 32);
        assert!(first.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase()));
    }

    async fn bytes_of_any_kind_come_back(world: World) {
        let queue = world.queue(|_| ()).await;
        let payloads: Vec<Vec<u8>> =
            vec![b"\xff\xfe\0raw".to_vec(), (0..=255).collect(), vec![], vec![0x1e; 70_000]];
        let messages = payloads.iter().map(|payload| Outgoing {
            payload: payload.clone().into(),
            ..Outgoing::default()
        });
        for reply in queue.publish_all(messages.collect()).await {
            assert_eq!(reply.outcome, Ok(PublishOutcome::Published));
        }
        let claimed = claim(&queue, 10).await;
        let back: Vec<_> = claimed.into_iter().map(|delivery| delivery.payload.unwrap()).collect();
        assert_eq!(back, payloads);
    }

    async fn a_duplicate_is_refused_within_the_window(world: World) {
        let queue = world.queue(|_| ()).await;
        let replies = queue.publish_all(vec![keyed("a", "k"), keyed("b", "k"), keyed("c", "other")]).await;
        let outcomes: Vec<_> = replies.into_iter().map(|reply| reply.outcome.unwrap()).collect();
        assert_eq!(outcomes, [
            PublishOutcome::Published,
            PublishOutcome::Duplicate,
            PublishOutcome::Published,
        ]);
        assert_eq!(payloads(&claim(&queue, 10).await), ["a", "c"]);
        assert_eq!(world.redis(&["GET", "q::deduplication::k"]).await, [leaseline::capability::Value::Bytes(vec![])]);
        // The window is over when the key is gone.
        world.redis(&["DEL", "q::deduplication::k"]).await;
        let reply = queue.publish_all(vec![keyed("again", "k")]).await;
        assert_eq!(reply[0].outcome, Ok(PublishOutcome::Published));
    }

    async fn a_full_queue_refuses_and_answers_duplicates(world: World) {
        let queue = world.queue(|config| config.max_pending_length = Some(2)).await;
        let replies = queue
            .publish_all(vec![keyed("a", "k"), outgoing("b"), outgoing("c"), keyed("d", "new"), keyed("e", "k")])
            .await;
        let kinds: Vec<_> = replies.iter().map(|reply| match &reply.outcome {
            Ok(outcome) => format!("{outcome:?}"),
            Err(error) => format!("{:?}", error.kind),
        }).collect();
        assert_eq!(kinds, ["Published", "Published", "Backpressure", "Backpressure", "Duplicate"]);
        let error = replies[2].outcome.clone().unwrap_err();
        assert_eq!((error.retry, error.message_id.as_ref()), (Retry::Yes, Some(&replies[2].message_id)));
        assert_eq!(world.keys().await, ["q::deduplication::k", "q::pending"], "refused messages leave nothing");
    }

    async fn drop_oldest_keeps_the_newest(world: World) {
        let queue = world.queue(|config| {
            config.max_pending_length = Some(2);
            config.overload_policy = OverloadPolicy::DropOldest;
            config.max_delivery_count = None;
        }).await;
        publish(&queue, &["a", "b", "c"]).await;
        let refused = queue.publish_all(vec![keyed("d", "k")]).await;
        assert_eq!(refused[0].outcome.as_ref().unwrap_err().kind, ErrorKind::InvalidArgument);
        assert_eq!(payloads(&claim(&queue, 10).await), ["b", "c"]);
    }

    async fn block_waits_for_room_and_then_refuses(world: World) {
        let queue = world.queue(|config| {
            config.max_pending_length = Some(1);
            config.overload_policy = OverloadPolicy::Block;
            config.overload_block_timeout_ms = 20_000;
        }).await;
        publish(&queue, &["a"]).await;
        let waiting = tokio::spawn({
            let queue = queue.clone();
            async move { publish(&queue, &["b"]).await }
        });
        assert_eq!(payload(&claim_one(&queue).await), "a");
        waiting.await.unwrap();
        assert_eq!(payload(&claim_one(&queue).await), "b");

        let impatient = world.queue(|config| {
            config.max_pending_length = Some(1);
            config.overload_policy = OverloadPolicy::Block;
            config.overload_block_timeout_ms = 30;
        }).await;
        publish(&impatient, &["c"]).await;
        let reply = impatient.publish_all(vec![outgoing("d")]).await;
        assert_eq!(reply[0].outcome.as_ref().unwrap_err().kind, ErrorKind::Backpressure);
    }

    async fn bad_messages_write_nothing(world: World) {
        let queue = world.queue(|config| config.max_payload_bytes = Some(3)).await;
        let replies = queue.publish_all(vec![outgoing("1234"), keyed("a", ""), outgoing("éa")]).await;
        let kinds: Vec<_> =
            replies.iter().map(|reply| reply.outcome.as_ref().map_err(|error| error.kind)).collect();
        assert_eq!(kinds, [
            Err(ErrorKind::PayloadTooLarge),
            Err(ErrorKind::InvalidArgument),
            Ok(&PublishOutcome::Published),
        ]);
        assert_eq!(world.keys().await, ["q::pending"]);
    }

    async fn a_key_of_another_type_is_refused_and_kept(world: World) {
        world.redis(&["SET", "q::pending", "foreign"]).await;
        let queue = world.queue(|_| ()).await;
        for message in [outgoing("a"), keyed("a", "k")] {
            let reply = queue.publish_all(vec![message]).await;
            let error = reply[0].outcome.clone().unwrap_err();
            assert_eq!((error.kind, error.code.as_deref()), (ErrorKind::Server, Some("WRONGTYPE")));
            assert_eq!(error.retry, Retry::No);
        }
        assert_eq!(world.keys().await, ["q::pending"]);
    }
}
