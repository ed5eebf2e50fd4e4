//! Consumers that sleep: what wakes them, whom, and what it costs. Commands are counted; no test
//! waits for something not to happen.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use leaseline::capability::{PipelineReply, Redis, Reply};
use leaseline::message::Delivery;
use leaseline::{Connection, Engine, Queue};
use tokio::task::JoinHandle;

use crate::suite;
use crate::world::*;

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3_600);

/// How long a test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// What was sent.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Vec<Vec<String>>>>);

impl Sent {
    fn add(&self, argv: &[&[u8]]) {
        let words = argv
            .iter()
            .map(|word| String::from_utf8_lossy(word).into_owned());
        self.0.lock().unwrap().push(words.collect());
    }

    fn all(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn claims(&self) -> usize {
        let sent = self.0.lock().unwrap();
        sent.iter()
            .filter(|words| words.iter().any(|word| word == "claim"))
            .count()
    }

    /// The timeouts of the waits, in seconds.
    fn waits(&self) -> Vec<f64> {
        let sent = self.0.lock().unwrap();
        let waits = sent.iter().filter(|words| words[0] == "BLMOVE");
        waits
            .map(|words| words.last().unwrap().parse().unwrap())
            .collect()
    }

    fn ends_with_a_wait(&self) -> bool {
        let sent = self.0.lock().unwrap();
        sent.last().is_some_and(|words| words[0] == "BLMOVE")
    }

    async fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let limit = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(
                Instant::now() < limit,
                "never so: {what}; {:?}",
                self.0.lock().unwrap()
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// A connection whose commands are noted.
struct Noted {
    inner: Connection,
    sent: Sent,
}

impl Redis for Noted {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.sent.add(argv);
        self.inner.execute(argv, timeout_ms).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        commands.iter().for_each(|argv| self.sent.add(argv));
        self.inner.pipeline(commands, timeout_ms).await
    }
}

/// Opens queue objects that share a noted connection. The server knows all scripts by then.
struct Notes {
    connection: Connection,
    sent: Sent,
    engine: Engine,
}

impl Notes {
    async fn new(world: &World) -> Self {
        for script in leaseline_core::script::ALL {
            world.redis(&["SCRIPT", "LOAD", script.source]).await;
        }
        let sent = Sent::default();
        let noted = |inner| Noted {
            inner,
            sent: sent.clone(),
        };
        let (open, waits) = (world.dedicated(), sent.clone());
        let connection = Connection::new(noted(world.connection.clone())).waking(move || Noted {
            inner: open(),
            sent: waits.clone(),
        });
        Self {
            connection,
            sent,
            engine: world.engine,
        }
    }

    async fn queue(&self, change: impl FnOnce(&mut leaseline::Config)) -> Queue {
        let builder = Queue::builder("q")
            .connection(self.connection.clone())
            .engine(self.engine);
        builder.configure(change).open().await.unwrap()
    }

    /// A claim that waits, and now sleeps: the server was asked to wait for it.
    async fn sleeper(&self, queue: &Queue) -> JoinHandle<Vec<Delivery>> {
        let (claims, waits) = (self.sent.claims(), self.sent.waits().len());
        let queue = queue.clone();
        let sleeper = tokio::spawn(async move { queue.claim(1, FOR_EVER).await.unwrap() });
        self.sent
            .until("it sleeps", |sent| {
                sent.claims() > claims && sent.waits().len() >= waits.max(1)
            })
            .await;
        sleeper
    }
}

suite! {
    async fn a_raw_push_wakes_a_sleeper(world: World) {
        let notes = Notes::new(&world).await;
        let sleeper = notes.sleeper(&notes.queue(|_| ()).await).await;
        world.redis(&["LPUSH", "q::pending", "raw"]).await;
        assert_eq!(payloads(&sleeper.await.unwrap()), ["raw"]);
        assert_eq!((notes.sent.claims(), notes.sent.waits().len()), (2, 1), "once in vain, once called");
    }

    async fn a_publish_wakes_a_sleeper(world: World) {
        let notes = Notes::new(&world).await;
        for change in [|_: &mut leaseline::Config| (), without_leases] {
            let before = notes.sent.claims();
            let sleeper = notes.sleeper(&notes.queue(change).await).await;
            let publisher = world.queue(|_| ()).await;
            publisher.publish_all(vec![keyed("late", "k")]).await[0].outcome.clone().unwrap();
            let claimed = sleeper.await.unwrap();
            assert_eq!(payloads(&claimed), ["late"]);
            assert_eq!(notes.sent.claims() - before, 2);
            world.redis(&["FLUSHALL"]).await;
        }
    }

    async fn a_push_wakes_one_sleeper_and_the_next_while_messages_are_left(world: World) {
        let notes = Notes::new(&world).await;
        let queue = notes.queue(|_| ()).await;
        let other = notes.queue(|_| ()).await;
        let mut sleepers = Vec::new();
        for queue in [&queue, &other, &queue, &other, &queue] {
            sleepers.push(notes.sleeper(queue).await);
        }
        world.redis(&["LPUSH", "q::pending", "1"]).await;
        assert_eq!(payloads(&sleepers.remove(0).await.unwrap()), ["1"], "who came first goes first");
        notes.sent.until("it waits again", Sent::ends_with_a_wait).await;
        assert_eq!(notes.sent.claims(), 6);
        world.redis(&["LPUSH", "q::pending", "2", "3"]).await;
        assert_eq!(payloads(&sleepers.remove(0).await.unwrap()), ["2"]);
        assert_eq!(payloads(&sleepers.remove(0).await.unwrap()), ["3"]);
        notes.sent.until("it waits again", Sent::ends_with_a_wait).await;
        assert_eq!(notes.sent.claims(), 8, "the others sleep on");
        for queue in [queue, other] {
            assert_eq!(queue.drain(PATIENCE).await, Ok(true));
        }
        for sleeper in sleepers {
            assert!(sleeper.await.unwrap().is_empty());
        }
    }

    async fn a_sleeper_that_goes_away_takes_no_wake_up_along(world: World) {
        let notes = Notes::new(&world).await;
        let queue = notes.queue(|_| ()).await;
        let gone = notes.sleeper(&queue).await;
        let stays = notes.sleeper(&queue).await;
        gone.abort();
        world.redis(&["LPUSH", "q::pending", "raw"]).await;
        assert_eq!(payloads(&stays.await.unwrap()), ["raw"]);
    }

    async fn a_sleeper_that_nobody_drives_does_not_hold_up_the_others(world: World) {
        let notes = Notes::new(&world).await;
        let queue = notes.queue(|_| ()).await;
        let mut left_alone = Box::pin(queue.claim(1, FOR_EVER));
        tokio::select! {
            claimed = &mut left_alone => panic!("{claimed:?}"),
            () = notes.sent.until("it sleeps", Sent::ends_with_a_wait) => {}
        }
        let driven = notes.sleeper(&queue).await;
        world.redis(&["LPUSH", "q::pending", "raw"]).await;
        assert_eq!(payloads(&driven.await.unwrap()), ["raw"]);
        drop(left_alone);
    }

    async fn an_idle_process_costs_less_than_two_commands_a_second(world: World) {
        let notes = Notes::new(&world).await;
        let (queue, other) = (notes.queue(|_| ()).await, notes.queue(|_| ()).await);
        for _ in 0..10 {
            notes.sleeper(&queue).await;
            notes.sleeper(&other).await;
        }
        let (started, before, waits) = (Instant::now(), notes.sent.all(), notes.sent.waits().len());
        notes.sent.until("two rounds", |sent| sent.waits().len() >= waits + 2).await;
        let commands = notes.sent.all() - before;
        // A slow machine makes the rounds longer, and never shorter.
        assert!(commands <= 6, "{commands} in two rounds of a claim, a question and a wait");
        let allowed = 2.0 * started.elapsed().as_secs_f64();
        assert!((commands as f64) <= allowed, "{commands} commands, {allowed} allowed");
    }

    async fn the_end_of_a_lease_bounds_the_sleep(world: World) {
        let notes = Notes::new(&world).await;
        let queue = notes.queue(|config| config.visibility_timeout_ms = Some(1_500)).await;
        publish(&queue, &["a"]).await;
        claim_one(&queue).await;
        let before = notes.sent.claims();
        let claimed = queue.claim(1, FOR_EVER).await.unwrap();
        assert_eq!((payload(&claimed[0]), claimed[0].delivery_count), ("a", 2));
        assert_eq!(notes.sent.claims() - before, 2, "once too early, once when it was due");
        let waits = notes.sent.waits();
        assert!(waits.len() == 1 && waits[0] <= 1.5, "{waits:?}");
    }

    async fn messages_that_cannot_be_claimed_yet_do_not_make_it_spin(world: World) {
        let notes = Notes::new(&world).await;
        let queue = notes.queue(|_| ()).await;
        world.redis(&["LPUSH", "q::pending", "tick", "tick"]).await;
        let first = claim_one(&queue).await;
        let started = Instant::now();
        let sleeper = notes.sleeper(&queue).await;
        let before = notes.sent.claims();
        notes.sent.until("it looks in vain", |sent| sent.claims() >= before + 6).await;
        // The pauses double from 25 ms on.
        assert!(started.elapsed() >= Duration::from_millis(25 + 50 + 100 + 200 + 400));
        assert_eq!(notes.sent.waits().len(), 1, "what returns at once is not asked for again");
        assert_eq!(ack(&queue, &first).await, leaseline::message::SettleOutcome::Done);
        assert_eq!(payloads(&sleeper.await.unwrap()), ["tick"]);
    }

    async fn a_consumer_sleeps_until_a_message_comes(world: World) {
        let notes = Notes::new(&world).await;
        let queue = notes.queue(|_| ()).await;
        let (started, starts) = tokio::sync::oneshot::channel::<()>();
        let consumer = tokio::spawn({
            let consumer = queue.consumer().concurrency(4).stop_when(async move { starts.await.unwrap() });
            consumer.run(|_| async { Ok::<(), String>(()) })
        });
        notes.sent.until("it sleeps", |sent| !sent.waits().is_empty()).await;
        for text in ["1", "2"] {
            let waits = notes.sent.waits().len();
            world.redis(&["LPUSH", "q::pending", text]).await;
            notes.sent.until("it sleeps again", |sent| sent.waits().len() > waits).await;
        }
        // In vain, called, in vain, called, in vain.
        assert_eq!(notes.sent.claims(), 5);
        started.send(()).unwrap();
        assert_eq!(consumer.await.unwrap().unwrap().acked, 2);
    }
}
