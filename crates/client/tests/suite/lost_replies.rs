//! Every reply lost in turn, every request lost in turn: the caller must not notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use leaseline::capability::{PipelineReply, Redis, RedisError, Reply, Value};
use leaseline::config::Log;
use leaseline::event::Operation;
use leaseline::message::{Outgoing, PublishOutcome, RenewOutcome, SettleOutcome};
use leaseline::{Connection, Engine, ErrorKind, Queue, Retry};

use crate::suite;
use crate::world::*;

/// What goes wrong with a command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Loss {
    /// It runs, and its reply is lost.
    Reply,
    /// It never arrives, and nobody knows.
    Request,
    /// It never leaves, and the host knows.
    Send,
}

/// A connection that loses the commands from a chosen one on, for a while.
#[derive(Clone)]
pub(crate) struct Lossy {
    inner: Connection,
    loss: Loss,
    /// Commands until the loss begins.
    before: Arc<AtomicI64>,
    /// Commands that are lost.
    count: i64,
}

impl Lossy {
    pub(crate) fn new(world: &World, loss: Loss) -> Self {
        let before = Arc::new(AtomicI64::new(i64::MAX));
        Self {
            inner: world.connection.clone(),
            loss,
            before,
            count: 1,
        }
    }

    /// Loses this many commands in a row.
    pub(crate) fn lasting(self, count: i64) -> Self {
        Self { count, ..self }
    }

    pub(crate) fn arm(&self, before: i64) {
        self.before.store(before, Ordering::SeqCst);
    }

    fn hits(&self) -> bool {
        let before = self.before.fetch_sub(1, Ordering::SeqCst);
        before <= 0 && before > -self.count
    }

    async fn lose<T>(
        &self,
        run: impl Future<Output = Result<T, RedisError>>,
    ) -> Result<T, RedisError> {
        if !self.hits() {
            return run.await;
        }
        match self.loss {
            Loss::Reply => {
                run.await?;
                Err(RedisError::Unknown("lost on purpose".into()))
            }
            Loss::Request => Err(RedisError::Unknown("lost on purpose".into())),
            Loss::Send => Err(RedisError::NotSent("refused on purpose".into())),
        }
    }
}

impl Redis for Lossy {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.lose(self.inner.execute(argv, timeout_ms)).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.lose(self.inner.pipeline(commands, timeout_ms)).await
    }
}

/// A queue over a lossy connection, whose server knows the claim script already: otherwise the
/// first lost reply would only be that it does not.
pub(crate) async fn lossy_queue(
    world: &World,
    lossy: &Lossy,
    change: impl FnOnce(&mut leaseline::Config),
) -> Queue {
    let queue = Queue::builder("q")
        .connection(Connection::new(lossy.clone()))
        .engine(world.engine)
        .configure(|config| {
            config.retry_initial_delay_ms = 1;
            config.retry_max_delay_ms = 1;
            change(config);
        })
        .open()
        .await
        .unwrap();
    assert!(claim(&queue, 1).await.is_empty());
    queue
}

/// The scenario loses its k-th command for every k, until it is done without a loss.
const MOST_COMMANDS: i64 = 20;

suite! {
    async fn publish_claim_renew_and_ack_survive_any_one_loss(world: World) {
        for leases in [true, false] {
            for loss in [Loss::Reply, Loss::Request, Loss::Send] {
                for k in 0..MOST_COMMANDS {
                    let context = format!("leases {leases}, {loss:?} of command {k}");
                    let lossy = Lossy::new(&world, loss);
                    let queue = lossy_queue(&world, &lossy, |config| {
                        config.completed = Log::Capped(5);
                        if !leases {
                            without_leases(config);
                        }
                    }).await;
                    lossy.arm(k);
                    let replies = queue.publish_all(vec![outgoing("a")]).await;
                    assert_eq!(replies[0].outcome, Ok(PublishOutcome::Published), "{context}");
                    let replies = queue.publish_all(vec![keyed("b", "k")]).await;
                    assert_eq!(replies[0].outcome, Ok(PublishOutcome::Published), "{context}");
                    assert_eq!(queue.stats().await.map_or(2, |stats| stats.pending), 2, "{context}: published twice");
                    for expected in ["a", "b"] {
                        let delivery = claim_one(&queue).await;
                        assert_eq!(payload(&delivery), expected, "{context}");
                        if leases {
                            assert_eq!(delivery.delivery_count, 1, "{context}");
                            let renewed = queue.renew(vec![delivery.lease.clone()]).await;
                            assert!(matches!(renewed[0], Ok(RenewOutcome::Renewed(_))), "{context}: {renewed:?}");
                        }
                        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done, "{context}");
                    }
                    assert!(claim(&queue, 1).await.is_empty(), "{context}");
                    assert_eq!(world.list("q::completed").await, ["b", "a"], "{context}");
                    // What a lost clean-up would have deleted expires by itself; nothing else may stay.
                    let mut left = Vec::new();
                    for key in world.keys().await {
                        let temporary = key.contains("operation_result:") || key.contains(":claim_result:");
                        if !temporary || world.redis(&["PTTL", &key]).await == [Value::Int(-1)] {
                            left.push(key);
                        }
                    }
                    let counter = "q::processing:lease_token_counter".to_string();
                    let mut expected = vec!["q::completed".to_string(), "q::deduplication::k".to_string()];
                    expected.extend(leases.then_some(counter));
                    assert_eq!(left, expected, "{context}");
                    world.redis(&["FLUSHALL"]).await;
                }
            }
        }
    }

    async fn a_publish_for_later_survives_any_one_loss(world: World) {
        for loss in [Loss::Reply, Loss::Request, Loss::Send] {
            for (k, key) in [(0, None), (1, None), (0, Some("k")), (1, Some("k"))] {
                let context = format!("{loss:?} of command {k}, key {key:?}");
                let lossy = Lossy::new(&world, loss);
                let queue = lossy_queue(&world, &lossy, |_| ()).await;
                lossy.arm(k);
                let message = Outgoing {
                    payload: "later".into(),
                    deduplication_key: key.map(Into::into),
                    delay_ms: 3_600_000,
                };
                let replies = queue.publish_all(vec![message]).await;
                assert_eq!(replies[0].outcome, Ok(PublishOutcome::Published), "{context}");
                assert_eq!(world.list("q::processing").await.len(), 1, "{context}: published once");
                world.redis(&["FLUSHALL"]).await;
            }
        }
    }

    async fn a_release_survives_any_one_loss(world: World) {
        for loss in [Loss::Reply, Loss::Request, Loss::Send] {
            for k in 0..4 {
                let context = format!("{loss:?} of command {k}");
                let lossy = Lossy::new(&world, loss);
                let queue = lossy_queue(&world, &lossy, |_| ()).await;
                publish(&queue, &["a"]).await;
                let delivery = claim_one(&queue).await;
                lossy.arm(k);
                let due = release(&queue, &delivery, 3_600_000).await;
                let deadlines = world.redis(&["ZRANGE", "q::processing:lease_deadlines", "0", "-1", "WITHSCORES"]).await;
                assert_eq!(text(deadlines[1].clone()), due.to_string(), "{context}");
                let counter = world.redis(&["GET", "q::processing:lease_token_counter"]).await;
                assert_eq!(counter, [Value::Bytes(b"2".to_vec())], "{context}: released once");
                assert_eq!(ack(&world.queue(|_| ()).await, &delivery).await, SettleOutcome::Stale, "{context}");
                world.redis(&["FLUSHALL"]).await;
            }
        }
    }

    async fn a_replayed_claim_names_the_same_message_and_token(world: World) {
        let lossy = Lossy { count: 2, ..Lossy::new(&world, Loss::Reply) };
        let queue = lossy_queue(&world, &lossy, |config| config.max_delivery_count = Some(1)).await;
        publish(&queue, &["poison", "a", "b"]).await;
        claim_one(&queue).await;
        world.expire_leases().await;
        queue.take_events().await;
        lossy.arm(0);
        let error = queue.claim(2, Duration::ZERO).await.unwrap_err();
        assert_eq!((error.kind, error.retry), (ErrorKind::OutcomeUnknown, Retry::Unknown));
        let claimed = claim(&queue, 2).await;
        assert_eq!(payloads(&claimed), ["a", "b"]);
        assert!(claimed.iter().all(|delivery| delivery.replayed && delivery.delivery_count == 1));
        assert_eq!(claimed.iter().map(token).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(world.list("q::dlq").await, ["poison"], "dead-lettered once");
        let events = queue.take_events().await.events;
        let told_again: Vec<_> = events
            .iter()
            .filter(|event| event.replayed && event.operation != Operation::Claim)
            .map(|event| event.operation)
            .collect();
        assert_eq!(told_again, [Operation::ClaimReclaim, Operation::Dlq]);
        for delivery in &claimed {
            assert_eq!(ack(&queue, delivery).await, SettleOutcome::Done);
        }
    }

    async fn a_claim_whose_replies_are_lost_and_whose_caller_goes_is_replayed_by_the_next(world: World) {
        for polls in 0..8 {
            let lossy = Lossy { count: 2, ..Lossy::new(&world, Loss::Reply) };
            let queue = lossy_queue(&world, &lossy, |_| ()).await;
            publish(&queue, &["a"]).await;
            lossy.arm(0);
            let mut call = Box::pin(queue.claim(1, Duration::ZERO));
            // Its task starts at the first poll at the latest.
            for _ in 0..=polls {
                let polled = std::future::poll_fn(|context| std::task::Poll::Ready(call.as_mut().poll(context))).await;
                if polled.is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            drop(call);
            let claimed = loop {
                // While the dropped call runs nothing is pending, and its message is not here yet.
                match queue.claim(1, Duration::from_secs(60)).await {
                    Ok(claimed) => break claimed,
                    Err(error) => assert_eq!(error.kind, ErrorKind::OutcomeUnknown),
                }
            };
            assert_eq!((payloads(&claimed), token(&claimed[0])), (vec!["a"], 1), "after {polls} polls");
            assert_eq!(ack(&queue, &claimed[0]).await, SettleOutcome::Done);
            world.redis(&["FLUSHALL"]).await;
        }
    }

    async fn a_claim_is_not_replayed_once_its_lease_has_passed_on(world: World) {
        let lossy = Lossy { count: 2, ..Lossy::new(&world, Loss::Reply) };
        let queue = lossy_queue(&world, &lossy, |_| ()).await;
        let other = world.queue(|_| ()).await;
        publish(&other, &["a"]).await;
        lossy.arm(0);
        queue.claim(1, Duration::ZERO).await.unwrap_err();
        world.expire_leases().await;
        let held = claim_one(&other).await;
        assert_eq!(token(&held), 2);
        assert!(claim(&queue, 1).await.is_empty(), "the old token must not extend the new lease");
        assert_eq!(ack(&other, &held).await, SettleOutcome::Done);
        assert!(claim(&queue, 1).await.is_empty());
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
    }

    async fn an_old_claim_record_extends_no_foreign_lease(world: World) {
        // A claim-result string that outlives its lease, as a refused DEL on a cluster leaves it.
        let lossy = Lossy { count: 2, ..Lossy::new(&world, Loss::Reply) };
        let queue = lossy_queue(&world, &lossy, |_| ()).await;
        let other = world.queue(|_| ()).await;
        publish(&other, &["a"]).await;
        lossy.arm(0);
        queue.claim(1, Duration::ZERO).await.unwrap_err();
        let result = world.keys().await.into_iter().find(|key| key.contains("claim_result:")).unwrap();
        let record = text(world.redis(&["GET", &result]).await.remove(0));
        world.expire_leases().await;
        let held = claim_one(&other).await;
        world.redis(&["SET", &result, &record]).await;
        let before = world.redis(&["ZRANGE", "q::processing:lease_deadlines", "0", "-1", "WITHSCORES"]).await;
        assert!(claim(&queue, 1).await.is_empty());
        let after = world.redis(&["ZRANGE", "q::processing:lease_deadlines", "0", "-1", "WITHSCORES"]).await;
        assert_eq!(before, after);
        assert_eq!(ack(&other, &held).await, SettleOutcome::Done);
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"], "the record is gone too");
    }

    async fn corrupt_claim_records_are_purged(world: World) {
        let lossy = Lossy { count: 2, ..Lossy::new(&world, Loss::Reply) };
        let queue = lossy_queue(&world, &lossy, |_| ()).await;
        publish(&queue, &["a"]).await;
        lossy.arm(0);
        queue.claim(1, Duration::ZERO).await.unwrap_err();
        let result = world.keys().await.into_iter().find(|key| key.contains("claim_result:")).unwrap();
        let id = result.rsplit(':').next().unwrap().to_owned();
        world.redis(&["SET", &result, "[1,2]"]).await;
        world.redis(&["HSET", "q::processing:claim_result_ids", &id, "\u{1}not json"]).await;
        assert!(claim(&queue, 1).await.is_empty());
        assert_eq!(world.redis(&["EXISTS", &result, "q::processing:claim_result_ids"]).await, [
            Value::Int(0)
        ]);
        world.expire_leases().await;
        assert_eq!(payload(&claim_one(&queue).await), "a");
    }

    async fn a_waiting_claim_gets_what_its_lost_attempts_took(world: World) {
        let lossy = Lossy { count: 3, ..Lossy::new(&world, Loss::Reply) };
        let queue = lossy_queue(&world, &lossy, |_| ()).await;
        publish(&queue, &["a", "b"]).await;
        lossy.arm(0);
        let claimed = queue.claim(1, Duration::from_secs(10)).await.unwrap();
        assert_eq!((payloads(&claimed), token(&claimed[0])), (vec!["a"], 1));
        assert!(claimed[0].replayed);
        assert_eq!(payload(&claim_one(&queue).await), "b");
    }

    async fn a_lost_claim_without_lease_goes_back_when_drained(world: World) {
        let lossy = Lossy { count: 2, ..Lossy::new(&world, Loss::Reply) };
        let queue = lossy_queue(&world, &lossy, without_leases).await;
        publish(&queue, &["a", "b"]).await;
        lossy.arm(0);
        queue.claim(1, Duration::ZERO).await.unwrap_err();
        assert_eq!(world.list("q::processing").await.len(), 1);
        assert_eq!(queue.drain(Duration::from_secs(5)).await, Ok(true));
        assert_eq!(world.keys().await, ["q::pending"]);
        let other = world.queue(without_leases).await;
        assert_eq!(payloads(&claim(&other, 5).await), ["a", "b"], "at the claim end");
    }

    async fn a_publish_without_any_answer_is_unknown(world: World) {
        for (loss, kind, arrived) in
            [(Loss::Reply, ErrorKind::OutcomeUnknown, 1), (Loss::Send, ErrorKind::Unavailable, 0)]
        {
            let lossy = Lossy { count: 1_000, ..Lossy::new(&world, loss) };
            let queue = lossy_queue(&world, &lossy, |config| config.retry_budget_ms = 0).await;
            publish(&queue, &["before"]).await;
            lossy.arm(0);
            let reply = queue.publish_all(vec![outgoing("a")]).await;
            assert_eq!(reply[0].outcome.as_ref().unwrap_err().kind, kind);
            assert_eq!(world.list("q::pending").await.len(), 1 + arrived);
            world.redis(&["FLUSHALL"]).await;
        }
    }

    async fn a_flushed_script_cache_is_no_failure(world: World) {
        let queue = world.queue(|config| config.retry_budget_ms = 0).await;
        for _ in 0..3 {
            world.redis(&["SCRIPT", "FLUSH"]).await;
            publish(&queue, &["a", "b", "c"]).await;
            world.redis(&["SCRIPT", "FLUSH"]).await;
            let claimed = claim(&queue, 3).await;
            assert_eq!(payloads(&claimed), ["a", "b", "c"]);
            for delivery in claimed {
                world.redis(&["SCRIPT", "FLUSH"]).await;
                assert!(matches!(queue.renew(vec![delivery.lease.clone()]).await[0], Ok(RenewOutcome::Renewed(_))));
                world.redis(&["SCRIPT", "FLUSH"]).await;
                assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done);
            }
        }
    }

    async fn a_lost_claim_is_found_by_its_hash_too(world: World) {
        // The string of a claim expires before its lease is renewed for the last time.
        for leases in [true, false] {
            let lossy = Lossy { count: 2, ..Lossy::new(&world, Loss::Reply) };
            let queue = lossy_queue(&world, &lossy, |config| if !leases { without_leases(config) }).await;
            publish(&queue, &["a", "b"]).await;
            lossy.arm(0);
            queue.claim(1, Duration::ZERO).await.unwrap_err();
            let result = world.keys().await.into_iter().find(|key| key.contains("claim_result:")).unwrap();
            world.redis(&["DEL", &result]).await;
            let claimed = claim_one(&queue).await;
            assert_eq!((payload(&claimed), claimed.replayed), ("a", true), "leases {leases}");
            assert_eq!(ack(&queue, &claimed).await, SettleOutcome::Done);
            world.redis(&["FLUSHALL"]).await;
        }
    }

    async fn a_lost_claim_is_answered_to_one_of_many_callers(world: World) {
        for leases in [true, false] {
            let lossy = Lossy { count: 2, ..Lossy::new(&world, Loss::Reply) };
            let queue = lossy_queue(&world, &lossy, |config| if !leases { without_leases(config) }).await;
            publish(&queue, &["a", "b", "c", "d"]).await;
            lossy.arm(0);
            queue.claim(1, Duration::ZERO).await.unwrap_err();
            let callers: Vec<_> = (0..8).map(|_| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.claim(1, Duration::ZERO).await.unwrap() })
            }).collect();
            let mut claimed = Vec::new();
            for caller in callers {
                claimed.extend(caller.await.unwrap());
            }
            let mut texts = payloads(&claimed);
            texts.sort_unstable();
            assert_eq!(texts, ["a", "b", "c", "d"], "leases {leases}");
            assert_eq!(claimed.iter().filter(|delivery| delivery.replayed).count(), 1);
            world.redis(&["FLUSHALL"]).await;
        }
    }

    async fn a_log_is_cut_after_a_lost_reply_too(world: World) {
        let lossy = Lossy::new(&world, Loss::Reply);
        let queue = lossy_queue(&world, &lossy, |config| config.completed = Log::Capped(1)).await;
        publish(&queue, &["a", "b"]).await;
        let claimed = claim(&queue, 2).await;
        for delivery in &claimed {
            lossy.arm(0);
            assert_eq!(ack(&queue, delivery).await, SettleOutcome::Done);
        }
        assert_eq!(world.list("q::completed").await, ["b"]);
    }
}
