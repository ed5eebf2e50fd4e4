use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leaseline::capability::{PipelineReply, Redis, Reply, Value};
use leaseline::message::SettleOutcome;
use leaseline::{Connection, Engine, ErrorKind, Queue};
use tokio::sync::watch;

use crate::suite;
use crate::world::*;

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3_600);

/// A connection whose claims are held until the gate opens.
#[derive(Clone)]
struct Gated {
    inner: Connection,
    open: watch::Receiver<bool>,
    reached: watch::Sender<bool>,
}

impl Redis for Gated {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        if argv.contains(&b"claim".as_slice()) {
            self.reached.send_replace(true);
            let _ = self.open.clone().wait_for(|open| *open).await;
        }
        self.inner.execute(argv, timeout_ms).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.inner.pipeline(commands, timeout_ms).await
    }
}

suite! {
    async fn a_drained_queue_refuses_and_others_go_on(world: World) {
        let queue = world.queue(|_| ()).await;
        let other = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        assert_eq!(queue.drain(Duration::from_secs(5)).await, Ok(true));
        assert_eq!(queue.drain(Duration::ZERO).await, Ok(true), "again");
        let refused = queue.publish_all(vec![outgoing("b")]).await;
        assert_eq!(refused[0].outcome.as_ref().unwrap_err().kind, ErrorKind::Drained);
        assert!(claim(&queue, 1).await.is_empty());
        assert_eq!(payload(&claim_one(&other).await), "a");
    }

    async fn a_drain_may_take_any_time(world: World) {
        let queue = world.queue(|_| ()).await;
        assert_eq!(queue.drain(Duration::MAX).await, Ok(true));
    }

    async fn a_publish_that_a_drain_overtakes_is_refused(world: World) {
        let queue = world.queue(|_| ()).await;
        let publishing: Vec<_> = (0..200)
            .map(|_| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.publish_all(vec![outgoing("a")]).await.remove(0).outcome })
            })
            .collect();
        tokio::task::yield_now().await;
        assert_eq!(queue.drain(Duration::from_secs(60)).await, Ok(true));
        let pending = world.queue(|_| ()).await.stats().await.unwrap().pending;
        let mut published = 0;
        for publish in publishing {
            match publish.await.unwrap() {
                Ok(_) => published += 1,
                Err(error) => assert_eq!(error.kind, ErrorKind::Drained),
            }
        }
        assert_eq!(published, pending, "nothing is published after the drain");
    }

    async fn a_queue_says_that_it_is_drained(world: World) {
        let queue = world.queue(|_| ()).await;
        assert!(!queue.is_drained());
        assert_eq!(queue.drain(Duration::ZERO).await, Ok(true), "nothing is open");
        assert!(queue.is_drained() && queue.clone().is_drained());
        assert_eq!(format!("{queue:?}"), "Queue { name: \"q\", .. }");
    }

    async fn a_counter_in_use_survives_a_drain(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        claim_one(&queue).await;
        assert_eq!(queue.drain(Duration::from_secs(5)).await, Ok(true));
        let counter = world.redis(&["GET", "q::processing:lease_token_counter"]).await;
        assert_eq!(counter, [Value::Bytes(b"1".to_vec())]);
    }

    async fn a_drain_waits_for_running_calls_and_lets_settlements_pass(world: World) {
        let (gate, open) = watch::channel(true);
        let (reached, mut claiming) = watch::channel(false);
        let gated = Gated { inner: world.connection.clone(), open, reached };
        let queue = Queue::builder("q").connection(Connection::new(gated)).engine(world.engine).open().await.unwrap();
        publish(&queue, &["a", "b"]).await;
        let held = claim_one(&queue).await;
        gate.send_replace(false);
        claiming.mark_unchanged();
        let running = tokio::spawn({
            let queue = queue.clone();
            async move { queue.claim(1, Duration::ZERO).await }
        });
        claiming.changed().await.unwrap();
        assert_eq!(queue.drain(Duration::ZERO).await, Ok(false), "a claim is running");
        let draining = tokio::spawn({
            let queue = queue.clone();
            async move { queue.drain(Duration::from_secs(60)).await }
        });
        assert_eq!(ack(&queue, &held).await, SettleOutcome::Done);
        gate.send_replace(true);
        assert_eq!(draining.await.unwrap(), Ok(true));
        assert_eq!(payloads(&running.await.unwrap().unwrap()), ["b"], "it was claimed before the drain");
        let refused = queue.publish_all(vec![outgoing("c")]).await;
        assert_eq!(refused[0].outcome.as_ref().unwrap_err().kind, ErrorKind::Drained);
    }

    async fn a_drain_ends_claims_that_sleep(world: World) {
        let queue = world.queue(|_| ()).await;
        let sleepers: Vec<_> = (0..5).map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.claim(1, FOR_EVER).await })
        }).collect();
        assert!(claim(&queue, 1).await.is_empty());
        assert_eq!(queue.drain(Duration::from_secs(60)).await, Ok(true));
        for sleeper in sleepers {
            assert!(sleeper.await.unwrap().unwrap().is_empty());
        }
        assert_eq!(world.keys().await, [""; 0]);
    }

    async fn drains_at_once_all_succeed(world: World) {
        let queue = world.queue(without_leases).await;
        publish(&queue, &["a"]).await;
        let drains: Vec<_> = (0..4).map(|_| {
            let queue = queue.clone();
            tokio::spawn(async move { queue.drain(Duration::from_secs(60)).await })
        }).collect();
        for drain in drains {
            assert_eq!(drain.await.unwrap(), Ok(true));
        }
    }

    async fn a_handler_may_drain_its_own_queue(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b"]).await;
        let draining = queue.clone();
        let progress = queue.consumer().run(move |_| {
            let queue = draining.clone();
            async move {
                let once = queue.drain(Duration::from_secs(60)).await;
                let again = queue.drain(Duration::from_secs(60)).await;
                match (once, again) {
                    (Ok(true), Ok(true)) => Ok(()),
                    other => Err(format!("{other:?}")),
                }
            }
        }).await.unwrap();
        assert_eq!((progress.acked, progress.failed), (1, 0), "and the consumer ended");
        assert_eq!(world.list("q::pending").await.len(), 1);
    }

    async fn handlers_a_signal_and_others_may_drain_at_once(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b", "c", "d"]).await;
        let mut signals = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::user_defined1()).unwrap();
        let signalled = tokio::spawn({
            let queue = queue.clone();
            async move {
                signals.recv().await;
                queue.drain(Duration::from_secs(60)).await
            }
        });
        let draining = queue.clone();
        let progress = queue.consumer().concurrency(4).heartbeat(Some(Duration::from_millis(20))).run(move |_| {
            let queue = draining.clone();
            async move {
                let pid = std::process::id().to_string();
                let sent = tokio::process::Command::new("kill").args(["-USR1", &pid]).status().await;
                assert!(sent.unwrap().success());
                let (one, other) = tokio::join!(queue.drain(Duration::from_secs(60)), queue.drain(Duration::from_secs(60)));
                // It does not even keep the events from being taken.
                queue.take_events().await;
                match (one, other) {
                    (Ok(true), Ok(true)) => Ok(()),
                    other => Err(format!("{other:?}")),
                }
            }
        });
        let progress = tokio::time::timeout(Duration::from_secs(120), progress).await.expect("a deadlock").unwrap();
        // The signal of another test in this process may come first, and then no handler runs.
        assert_eq!(progress.failed, 0);
        assert_eq!(signalled.await.unwrap(), Ok(true));
    }

    async fn an_observer_may_drain(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b"]).await;
        let (draining, drained) = (queue.clone(), Arc::new(AtomicBool::new(false)));
        let (seen, ended) = (Arc::clone(&drained), Arc::new(watch::Sender::new(0)));
        let ends = Arc::clone(&ended);
        let progress = queue.consumer().on_progress(move |_| {
            // After every change, so several times at once.
            let (queue, seen, ends) = (draining.clone(), Arc::clone(&seen), Arc::clone(&ends));
            tokio::spawn(async move {
                assert_eq!(queue.drain(Duration::from_secs(60)).await, Ok(true));
                seen.store(true, Ordering::SeqCst);
                ends.send_modify(|count| *count += 1);
            });
        }).run(|_| async { Ok::<(), String>(()) }).await.unwrap();
        assert!(progress.acked >= 1);
        ended.subscribe().wait_for(|count| *count >= 2).await.unwrap();
        assert!(drained.load(Ordering::SeqCst));
    }
}
