//! Every event of the original: its operation, its outcome, its fields and its place.

use std::sync::Arc;
use std::time::Duration;

use leaseline::capability::{PipelineReply, Redis, RedisError, Reply, ServerError};
use leaseline::config::Log;
use leaseline::event::{Event, Operation, Outcome};
use leaseline::message::Settlement;
use leaseline::{Connection, Engine, ErrorKind, Queue};
use tokio::sync::watch;

use crate::lost_replies::{Loss, Lossy, lossy_queue};
use crate::suite;
use crate::world::*;

/// A connection that refuses one command, alone and in pipelines, while it is told to.
#[derive(Clone)]
struct Refusing {
    inner: Connection,
    command: &'static [u8],
    refuses: watch::Receiver<bool>,
}

impl Refusing {
    fn refuses(&self, argv: &[&[u8]]) -> bool {
        *self.refuses.borrow() && argv.first() == Some(&self.command)
    }
}

impl Redis for Refusing {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        if !self.refuses(argv) {
            return self.inner.execute(argv, timeout_ms).await;
        }
        Err(RedisError::Server(ServerError::from_line(
            "ERR refused on purpose",
        )))
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        let mut replies = self.inner.pipeline(commands, timeout_ms).await?;
        for (argv, reply) in commands.iter().zip(&mut replies) {
            if self.refuses(argv) {
                *reply = Err(ServerError::from_line("ERR refused on purpose"));
            }
        }
        Ok(replies)
    }
}

async fn refusing_queue(
    world: &World,
    command: &'static str,
    change: impl FnOnce(&mut leaseline::Config),
) -> (Queue, watch::Sender<bool>) {
    let (switch, refuses) = watch::channel(false);
    let refusing = Refusing {
        inner: world.connection.clone(),
        command: command.as_bytes(),
        refuses,
    };
    let queue = Queue::builder("q")
        .connection(Connection::new(refusing))
        .engine(world.engine)
        .configure(change)
        .open()
        .await
        .unwrap();
    (queue, switch)
}

/// The fields of an event that are set, in the order of the record.
fn fields(event: &Event) -> Vec<&'static str> {
    [
        ("message", event.message_id.is_some()),
        ("claim", event.claim_id.is_some()),
        ("token", event.lease_token_hash.is_some()),
        ("destination", event.destination.is_some()),
        ("count", event.delivery_count.is_some()),
        ("limit", event.max_delivery_count.is_some()),
        ("duration", event.duration_ms.is_some()),
        ("error", event.error.is_some()),
        ("reason", event.reason.is_some()),
        ("timeout", event.timeout_ms.is_some()),
        ("open", event.pending_claim_ids.is_some()),
        ("replayed", event.replayed),
    ]
    .into_iter()
    .filter_map(|(name, set)| set.then_some(name))
    .collect()
}

/// What happened since the last look, as lines such as `Publish Success: message duration`.
async fn told(queue: &Queue) -> Vec<String> {
    let events = queue.take_events().await.events;
    let lines = events.iter().map(|event| {
        let fields = fields(event).join(" ");
        format!("{:?} {:?}: {fields}", event.operation, event.outcome)
    });
    lines.collect()
}

suite! {
    async fn a_publish_is_told(world: World) {
        let queue = world.queue(|config| config.max_payload_bytes = Some(1)).await;
        queue.publish_all(vec![outgoing("a"), keyed("b", "k"), keyed("c", "k"), outgoing("too large"), keyed("d", "")]).await;
        assert_eq!(told(&queue).await, [
            "Publish Success: message duration",
            "Publish Success: message duration",
            "PublishDedupHit Skipped: message duration",
            "Publish Failure: message duration error",
            "Publish Failure: message duration error",
        ]);
    }

    async fn a_claim_is_told(world: World) {
        let queue = world.queue(|_| ()).await;
        claim(&queue, 1).await;
        publish(&queue, &["a"]).await;
        world.redis(&["LPUSH", "q::pending", "raw", "\u{1e}RMQ1:{broken"]).await;
        queue.take_events().await;
        assert!(claim(&queue, 3).await.len() == 3);
        assert_eq!(told(&queue).await, [
            "Claim Success: message token count duration",
            "Claim Success: token count duration",
            "Claim Failure: token count duration error",
        ]);
        claim(&queue, 1).await;
        assert_eq!(told(&queue).await, ["ClaimEmpty Skipped: duration"]);
        world.redis(&["SET", "q::pending", "foreign"]).await;
        queue.claim(1, Duration::ZERO).await.unwrap_err();
        assert_eq!(told(&queue).await, ["Claim Failure: duration error"]);
    }

    async fn a_claim_without_lease_has_no_token_to_tell(world: World) {
        let queue = world.queue(without_leases).await;
        publish(&queue, &["a"]).await;
        queue.take_events().await;
        let delivery = claim_one(&queue).await;
        ack(&queue, &delivery).await;
        ack(&queue, &delivery).await;
        assert_eq!(told(&queue).await, [
            "Claim Success: message count duration",
            "Ack Success: message duration",
            "Ack Skipped: message duration",
        ]);
    }

    /// In one claim: what came back first, then what was buried, then what is handed out.
    async fn reclaims_come_before_dead_letters_and_these_before_the_claim(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = Some(1)).await;
        publish(&queue, &["first", "second"]).await;
        assert_eq!(claim(&queue, 2).await.len(), 2);
        publish(&queue, &["good"]).await;
        // The second one has the later deadline, so it comes back first and lies deeper.
        for (at, score) in [("1", "1"), ("0", "2")] {
            let stored = world.redis(&["LINDEX", "q::processing", at]).await.remove(0);
            let argv: [&[u8]; 4] = [b"ZADD", b"q::processing:lease_deadlines", score.as_bytes(), &bytes(stored)];
            world.connection.execute(&argv, 5_000).await.unwrap();
        }
        queue.take_events().await;
        claim_one(&queue).await;
        let events = queue.take_events().await.events;
        let seen: Vec<_> = events.iter().map(|event| (event.operation, fields(event).join(" "), event.delivery_count)).collect();
        assert_eq!(seen, [
            (Operation::ClaimReclaim, "message count".into(), Some(1)),
            (Operation::ClaimReclaim, "message count".into(), Some(1)),
            (Operation::Dlq, "message destination count limit".into(), Some(2)),
            (Operation::Dlq, "message destination count limit".into(), Some(2)),
            (Operation::Claim, "message token count duration".into(), Some(1)),
        ]);
        let ids: Vec<_> = events[..4].iter().map(|event| event.message_id.clone()).collect();
        assert_eq!((&ids[0], &ids[1]), (&ids[3], &ids[2]), "the oldest deadline is served first");
        assert_eq!(world.list("q::dlq").await, ["second", "first"]);
    }

    async fn a_claim_that_gives_up_is_told_with_its_id(world: World) {
        let lossy = Lossy::new(&world, Loss::Send).lasting(2);
        let queue = lossy_queue(&world, &lossy, |_| ()).await;
        queue.take_events().await;
        lossy.arm(0);
        let error = queue.claim(1, Duration::ZERO).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable);
        let events = queue.take_events().await.events;
        let seen: Vec<_> = events.iter().map(|event| (event.operation, event.outcome, fields(event).join(" "))).collect();
        assert_eq!(seen, [
            (Operation::RetryAttempt, Outcome::Failure, "claim error".into()),
            (Operation::RetryExhausted, Outcome::Failure, "claim error".into()),
            (Operation::Claim, Outcome::Failure, "duration error".into()),
        ]);
        assert!(events[..2].iter().all(|event| event.claim_id == events[0].claim_id), "one id throughout");
    }

    /// And every reclaim and dead letter of the lost claim once more, marked.
    async fn a_recovered_claim_tells_its_id_and_what_it_had_done(world: World) {
        let lossy = Lossy::new(&world, Loss::Reply).lasting(2);
        let queue = lossy_queue(&world, &lossy, |config| config.max_delivery_count = Some(1)).await;
        publish(&queue, &["poison", "good"]).await;
        claim_one(&queue).await;
        world.expire_leases().await;
        lossy.arm(0);
        queue.claim(1, Duration::ZERO).await.unwrap_err();
        queue.take_events().await;
        assert_eq!(payload(&claim_one(&queue).await), "good");
        assert_eq!(told(&queue).await, [
            "ClaimReclaim Success: claim",
            "ClaimReclaim Success: message count replayed",
            "Dlq Success: message destination count limit replayed",
            "Claim Success: message token count duration replayed",
        ]);
    }

    async fn settlements_are_told_in_order(world: World) {
        let queue = world.queue(|config| (config.completed, config.failed) = (Log::Capped(5), Log::Unbounded)).await;
        publish(&queue, &["a", "b"]).await;
        let claimed = claim(&queue, 2).await;
        queue.take_events().await;
        for _ in 0..2 {
            ack(&queue, &claimed[0]).await;
            fail(&queue, &claimed[1]).await;
        }
        assert_eq!(told(&queue).await, [
            "Completed Success: message token destination duration",
            "Ack Success: message token duration",
            "Failed Failure: message token destination duration",
            "Nack Success: message token duration",
            "Completed Skipped: message token destination duration",
            "Ack Skipped: message token duration",
            "StaleLeaseAck Skipped: message token duration",
            "Failed Failure: message token destination duration",
            "Nack Skipped: message token duration",
            "StaleLeaseNack Skipped: message token duration",
        ]);
    }

    async fn the_reason_of_a_failure_is_told(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        queue.take_events().await;
        queue.consumer().limit(Some(1)).run(|_| async { Err::<(), _>("no paper") }).await.unwrap();
        let events = queue.take_events().await.events;
        let failed = events.iter().find(|event| event.operation == Operation::Failed).unwrap();
        assert_eq!(failed.reason.as_deref(), Some("no paper"));
    }

    async fn a_settlement_that_fails_is_told(world: World) {
        let queue = world.queue(|config| (config.completed, config.failed) = (Log::Capped(5), Log::Capped(5))).await;
        publish(&queue, &["a", "b"]).await;
        let claimed = claim(&queue, 2).await;
        queue.take_events().await;
        world.redis(&["SET", "q::completed", "foreign"]).await;
        world.redis(&["SET", "q::failed", "foreign"]).await;
        settle(&queue, &claimed[0].lease, Settlement::Ack).await.unwrap_err();
        settle(&queue, &claimed[1].lease, Settlement::Fail).await.unwrap_err();
        assert_eq!(told(&queue).await, [
            "CleanupFailed Failure: message token duration error",
            "Failed Failure: message token destination duration",
            "CleanupFailed Failure: message token duration error",
        ]);
    }

    async fn a_log_that_cannot_be_cut_is_told_and_fails_no_message(world: World) {
        let change = |config: &mut leaseline::Config| (config.completed, config.failed) = (Log::Capped(1), Log::Capped(1));
        let (queue, refuses) = refusing_queue(&world, "LTRIM", change).await;
        publish(&queue, &["a", "b"]).await;
        let claimed = claim(&queue, 2).await;
        queue.take_events().await;
        refuses.send_replace(true);
        ack(&queue, &claimed[0]).await;
        fail(&queue, &claimed[1]).await;
        assert_eq!(told(&queue).await, [
            "TrimFailed Failure: destination error",
            "Completed Success: message token destination duration",
            "Ack Success: message token duration",
            "Failed Failure: message token destination duration",
            "TrimFailed Failure: destination error",
            "Nack Success: message token duration",
        ]);
    }

    async fn renewals_are_told(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        queue.take_events().await;
        queue.renew(vec![delivery.lease.clone()]).await.remove(0).unwrap();
        ack(&queue, &delivery).await;
        queue.renew(vec![delivery.lease.clone()]).await.remove(0).unwrap();
        world.redis(&["SET", "q::processing:lease_tokens", "foreign"]).await;
        queue.renew(vec![delivery.lease]).await.remove(0).unwrap_err();
        let seen = told(&queue).await;
        assert_eq!((seen.len(), seen[1].as_str()), (4, "Ack Success: message token duration"));
        assert_eq!((seen[0].as_str(), seen[2].as_str(), seen[3].as_str()), (
            "LeaseRenew Success: message token",
            "LeaseRenewFailed Skipped: message token",
            "LeaseRenewFailed Failure: message token error",
        ));
    }

    async fn the_heartbeat_of_a_lost_lease_is_told_and_ends(world: World) {
        let queue = world.queue(|config| config.visibility_timeout_ms = Some(60_000)).await;
        let rival = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let (world, seen) = (Arc::new(world), queue.clone());
        let progress = queue.consumer().heartbeat(Some(Duration::from_millis(20))).limit(Some(1)).run(move |_| {
            let (world, rival, seen) = (Arc::clone(&world), rival.clone(), seen.clone());
            async move {
                let mut outcomes = Vec::new();
                // One renewal, then the lease passes on.
                while !outcomes.contains(&(Operation::LeaseRenewFailed, Outcome::Skipped)) {
                    let events = seen.take_events().await.events;
                    outcomes.extend(events.iter().map(|event| (event.operation, event.outcome)));
                    if outcomes.contains(&(Operation::LeaseRenew, Outcome::Success)) {
                        world.expire_leases().await;
                        // A renewal may come first; then it is tried again.
                        claim(&rival, 1).await;
                    }
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
                match seen.take_events().await.events.as_slice() {
                    [] => Ok(()),
                    more => Err(format!("{more:?}")),
                }
            }
        }).await.unwrap();
        assert_eq!(progress.stale, 1, "the handler went on, and its ack came too late");
        let last = told(&queue).await;
        assert_eq!(last, [
            "Ack Skipped: message token duration",
            "StaleLeaseAck Skipped: message token duration",
        ]);
    }

    async fn a_drain_is_told(world: World) {
        let queue = world.queue(|_| ()).await;
        assert_eq!(queue.drain(Duration::from_secs(7)).await, Ok(true));
        assert_eq!(queue.drain(Duration::from_secs(7)).await, Ok(true));
        let events = queue.take_events().await.events;
        let outcomes: Vec<_> = events.iter().map(|event| (event.operation, event.outcome)).collect();
        assert_eq!(outcomes, [
            (Operation::Drain, Outcome::Start),
            (Operation::Drain, Outcome::Success),
            (Operation::Drain, Outcome::Skipped),
        ]);
        for event in &events {
            assert_eq!(fields(event), ["duration", "timeout", "open"]);
            assert_eq!(event.pending_claim_ids, Some(0));
            assert!((1..=7_000).contains(&event.timeout_ms.unwrap()));
        }
    }

    async fn a_drain_that_leaves_a_claim_open_is_told_and_can_be_repeated(world: World) {
        let lossy = Lossy::new(&world, Loss::Reply).lasting(1_000);
        let queue = lossy_queue(&world, &lossy, without_leases).await;
        publish(&queue, &["a"]).await;
        lossy.arm(0);
        queue.claim(1, Duration::ZERO).await.unwrap_err();
        queue.take_events().await;
        assert_eq!(queue.drain(Duration::ZERO).await, Ok(false), "no time, no recovery");
        assert_eq!(queue.drain(Duration::from_millis(300)).await, Ok(false));
        lossy.arm(i64::MAX);
        assert_eq!(queue.drain(Duration::from_secs(60)).await, Ok(true));
        assert_eq!(world.keys().await, ["q::pending"], "given back once");
        assert_eq!(told(&queue).await, [
            "Drain Start: duration timeout open",
            "Drain Failure: duration error timeout open",
            "Drain Start: duration timeout open",
            "Drain Failure: duration error timeout open",
            "Drain Start: duration timeout open",
            "Drain Success: duration timeout open",
        ]);
    }
}
