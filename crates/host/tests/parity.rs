//! The component and the native core send the same commands and give the same results.

mod support;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use leaseline_core::Queue;
use leaseline_core::message::{Outgoing, ReleaseRequest, SettleRequest, Settlement};
use leaseline_wasmtime::{Clock, Ctx, Entropy, Limits, PipelineReply, QueueInstance, Redis, Reply};
use support::{Config, ModelRedis, message, runtime};

/// Notes every command on its way to the model.
#[derive(Clone)]
struct RecordingRedis {
    model: ModelRedis,
    commands: Arc<Mutex<Vec<Vec<Vec<u8>>>>>,
}

impl RecordingRedis {
    fn new() -> Self {
        Self {
            model: ModelRedis::new(),
            commands: Arc::default(),
        }
    }

    fn note(&self, argv: &[&[u8]]) {
        self.commands
            .lock()
            .unwrap()
            .push(argv.iter().map(|part| part.to_vec()).collect());
    }

    fn commands(&self) -> Vec<Vec<Vec<u8>>> {
        self.commands.lock().unwrap().clone()
    }
}

impl Redis for RecordingRedis {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.note(argv);
        self.model.execute(argv, timeout_ms).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        commands.iter().for_each(|argv| self.note(argv));
        self.model.pipeline(commands, timeout_ms).await
    }
}

/// Time passes only while somebody sleeps.
#[derive(Clone, Default)]
struct StillClock(Arc<AtomicU64>);

impl Clock for StillClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    async fn sleep_ms(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::Relaxed);
    }
}

/// The same bytes each time.
#[derive(Clone, Default)]
struct CountingEntropy(Arc<AtomicU64>);

impl Entropy for CountingEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.0.fetch_add(1, Ordering::Relaxed) as u8;
        }
    }
}

/// A tour through every call. Both engines have these methods; the component's results lie in one
/// more `Result`, which `$unwrap` takes off.
macro_rules! tour {
    ($queue:ident, $unwrap:ident) => {{
        let binary = message([0_u8, 0xff, 0x80]);
        let keyed = Outgoing {
            payload: "once".into(),
            deduplication_key: Some(b"k".to_vec()),
            ..Outgoing::default()
        };
        let later = Outgoing {
            delay_ms: 60_000,
            ..keyed.clone()
        };
        let mut told = vec![format!("{:?}", $queue.stats().await)];
        let published = $unwrap!(
            $queue
                .publish(&[message("one"), binary, keyed.clone(), keyed, later.clone()])
                .await
        );
        told.push(format!("{published:?}"));
        let plain_later = Outgoing {
            deduplication_key: None,
            ..later
        };
        let published = $unwrap!($queue.publish(&[plain_later]).await);
        told.push(format!("{published:?}"));
        let first = $queue.claim(3, 0).await.unwrap();
        told.push(format!("{first:?}"));
        told.push(format!(
            "{:?}",
            $unwrap!($queue.renew(&[first[0].lease.clone()]).await)
        ));
        let settle = |index: usize, settlement| SettleRequest {
            lease: first[index].lease.clone(),
            settlement,
            reason: None,
        };
        let requests = [settle(0, Settlement::Ack), settle(1, Settlement::Fail)];
        told.push(format!("{:?}", $unwrap!($queue.settle(&requests).await)));
        told.push(format!("{:?}", $unwrap!($queue.settle(&requests).await)));
        let release = |index: usize, delay_ms| ReleaseRequest {
            lease: first[index].lease.clone(),
            delay_ms,
        };
        let requests = [release(2, 60_000), release(0, 0), release(1, u64::MAX)];
        told.push(format!("{:?}", $unwrap!($queue.release(&requests).await)));
        told.push(format!("{:?}", $queue.stats().await));
        told.push(format!("{:?}", $queue.claim(0, 0).await));
        told.push(format!("{:?}", $queue.claim(1, 500).await));
        told.push(format!("{:?}", $queue.redrive(10).await));
        told.push(format!("{:?}", $queue.stats().await));
        $unwrap!(
            $queue
                .adopt_claims(vec!["00112233445566778899aabbccddeeff".into()])
                .await
        );
        told.push(format!(
            "{:?}",
            $unwrap!($queue.take_pending_claims().await)
        ));
        told.push(format!("{:?}", $queue.drain(100).await));
        told.push(format!(
            "{:?}",
            $unwrap!($queue.publish(&[message("late")]).await)
        ));
        told.push(format!("{:?}", $unwrap!($queue.take_events().await)));
        told
    }};
}

macro_rules! unwrap {
    ($result:expr) => {
        $result.unwrap()
    };
}

macro_rules! plain {
    ($value:expr) => {
        $value
    };
}

/// Makes the native queue's plain methods look like the others.
struct Native(Queue<RecordingRedis, StillClock, CountingEntropy>);

impl Native {
    async fn adopt_claims(&mut self, claim_ids: Vec<String>) {
        self.0.adopt_claims(claim_ids);
    }

    async fn take_pending_claims(&mut self) -> Vec<String> {
        self.0.take_pending_claims()
    }

    async fn take_events(&mut self) -> leaseline_core::event::EventBatch {
        self.0.take_events()
    }
}

impl std::ops::Deref for Native {
    type Target = Queue<RecordingRedis, StillClock, CountingEntropy>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl std::ops::DerefMut for Native {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

#[tokio::test]
async fn both_engines_do_the_same() {
    let mut config = Config::new("jobs");
    config.completed = leaseline_core::config::Log::Capped(5);
    config.failed = leaseline_core::config::Log::Unbounded;
    config.visibility_timeout_ms = Some(30_000);

    let native_redis = RecordingRedis::new();
    let queue = Queue::new(
        config.clone(),
        native_redis.clone(),
        StillClock::default(),
        CountingEntropy::default(),
    );
    let mut native = Native(queue.unwrap());
    let native_told = tour!(native, plain);

    let redis = RecordingRedis::new();
    let mut limits = Limits::default();
    limits.compute = None;
    let ctx = Ctx::builder()
        .redis("main", redis.clone())
        .clock(StillClock::default())
        .entropy(CountingEntropy::default())
        .limits(limits)
        .build();
    let mut component = QueueInstance::open(&runtime(), ctx, "main", &config)
        .await
        .unwrap();
    let component_told = tour!(component, unwrap);

    for (native, component) in native_told.iter().zip(&component_told) {
        // A queue's error comes wrapped from an instance.
        assert_eq!(
            native,
            &component.replace("Err(Queue(", "Err(").replace("}))", "})")
        );
    }
    assert_eq!(native_redis.commands(), redis.commands());
    assert!(redis.commands().len() > 10, "the tour went somewhere");
}
