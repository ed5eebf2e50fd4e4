//! Limits hold, and what breaks one is told apart from an error of the queue.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use leaseline_core::ErrorKind;
use leaseline_wasmtime::{
    InstanceError, Limits, PipelineReply, QueueInstance, Redis, RedisError, Reply, TrapCause, Value,
};
use support::{AnsweringRedis, Config, ModelRedis, ctx, message, open, runtime};

fn queue_error(error: InstanceError) -> leaseline_core::Error {
    match error {
        InstanceError::Queue(error) => error,
        other => panic!("not an error of the queue: {other}"),
    }
}

fn trap_cause(error: InstanceError) -> TrapCause {
    match error {
        InstanceError::Trapped { cause, .. } => cause,
        other => panic!("not a trap: {other}"),
    }
}

#[tokio::test]
async fn an_unknown_label_is_denied() {
    let ctx = ctx(ModelRedis::new(), Limits::default());
    let config = Config::new("jobs");
    let error = QueueInstance::open(&runtime(), ctx, "other", &config)
        .await
        .unwrap_err();
    let error = queue_error(error);
    assert_eq!(error.kind, ErrorKind::Denied);
    assert!(error.message.contains("other"), "{error}");
}

#[tokio::test]
async fn a_bad_configuration_is_an_error_of_the_queue() {
    let ctx = ctx(ModelRedis::new(), Limits::default());
    let config = Config::new(" ");
    let error = QueueInstance::open(&runtime(), ctx, "main", &config)
        .await
        .unwrap_err();
    assert_eq!(queue_error(error).kind, ErrorKind::Configuration);
}

#[tokio::test]
async fn a_reply_beyond_the_limit_does_not_reach_the_guest() {
    let redis = AnsweringRedis::new(|_| Ok(vec![Value::Bytes(vec![b'x'; 100_000])]));
    let mut limits = Limits::default();
    limits.reply_bytes = 50_000;
    let mut queue = open(redis, limits).await;
    let error = queue_error(queue.stats().await.unwrap_err());
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert!(
        error.message.contains("larger than the host allows"),
        "{error}"
    );
    assert!(queue.is_alive());
}

#[tokio::test]
async fn many_small_values_count_too() {
    let redis = AnsweringRedis::new(|_| Ok(vec![Value::Nil; 10_000]));
    let mut limits = Limits::default();
    limits.reply_bytes = 50_000;
    let mut queue = open(redis, limits).await;
    let error = queue_error(queue.stats().await.unwrap_err());
    assert!(
        error.message.contains("larger than the host allows"),
        "{error}"
    );
}

/// Replies that make no sense are errors and never a crash.
#[tokio::test]
async fn nonsense_from_the_host_is_an_error() {
    let replies: [fn() -> Vec<Value>; 6] = [
        Vec::new,
        || vec![Value::Nil],
        || vec![Value::Int(i64::MIN); 3],
        || vec![Value::Int(i64::MAX); 40],
        || vec![Value::Bytes(vec![0xff; 300]); 7],
        || vec![Value::Status("\u{1e}RMQ1:".into()); 12],
    ];
    for reply in replies {
        let mut config = Config::new("jobs");
        config.retry_budget_ms = 0;
        let ctx = ctx(AnsweringRedis::new(move |_| Ok(reply())), Limits::default());
        let mut queue = QueueInstance::open(&runtime(), ctx, "main", &config)
            .await
            .unwrap();
        let claimed = queue.claim(5, 0).await;
        if let Err(error) = claimed {
            queue_error(error);
        }
        let published = queue.publish(&[message("x")]).await;
        published.expect("a trap would be a bug");
        assert!(queue.is_alive());
    }
}

#[tokio::test]
async fn a_flood_of_error_text_is_cut() {
    let redis = AnsweringRedis::new(|_| Err(RedisError::Denied("x".repeat(50 << 20))));
    let mut queue = open(redis, Limits::default()).await;
    let error = queue_error(queue.stats().await.unwrap_err());
    assert_eq!(error.kind, ErrorKind::Denied);
    assert!(error.message.len() < 10_000);
}

#[tokio::test]
async fn too_little_memory_traps_and_kills_the_instance() {
    let mut limits = Limits::default();
    limits.memory_bytes = 4 << 20;
    let mut queue = open(ModelRedis::new(), limits).await;
    let error = queue
        .publish(&[message(vec![b'x'; 8 << 20])])
        .await
        .unwrap_err();
    assert_eq!(trap_cause(error), TrapCause::Memory);
    assert!(!queue.is_alive());
    assert_eq!(queue.stats().await.unwrap_err(), InstanceError::Dead);
}

#[tokio::test]
async fn too_little_memory_to_begin_with_is_reported() {
    let mut limits = Limits::default();
    limits.memory_bytes = 1 << 16;
    let ctx = ctx(ModelRedis::new(), limits);
    let config = Config::new("jobs");
    let error = QueueInstance::open(&runtime(), ctx, "main", &config)
        .await
        .unwrap_err();
    assert!(
        matches!(error, InstanceError::NotInstantiated(_)),
        "{error}"
    );
}

#[tokio::test]
async fn too_many_calls_to_the_host_trap() {
    let mut limits = Limits::default();
    limits.host_calls = 20;
    let mut queue = open(ModelRedis::new(), limits).await;
    let messages = vec![message("x"); 100];
    let error = queue.publish(&messages).await.unwrap_err();
    assert_eq!(trap_cause(error), TrapCause::HostCalls);
    assert!(!queue.is_alive());
}

#[tokio::test]
async fn calls_to_the_host_are_counted_for_each_call() {
    let mut limits = Limits::default();
    limits.host_calls = 20;
    let mut queue = open(ModelRedis::new(), limits).await;
    for _ in 0..40 {
        queue.publish(&[message("x")]).await.unwrap();
    }
}

#[tokio::test]
async fn more_than_may_leave_the_guest_traps() {
    let mut limits = Limits::default();
    limits.transfer_bytes = 1 << 20;
    let mut queue = open(ModelRedis::new(), limits).await;
    let error = queue
        .publish(&[message(vec![b'x'; 2 << 20])])
        .await
        .unwrap_err();
    assert_eq!(trap_cause(error), TrapCause::Crash);
    assert!(!queue.is_alive());
}

#[tokio::test]
async fn too_many_arguments_are_denied() {
    let mut limits = Limits::default();
    limits.arguments = 3;
    let mut queue = open(ModelRedis::new(), limits).await;
    let replies = queue.publish(&[message("x")]).await.unwrap();
    assert_eq!(
        replies[0].outcome.as_ref().unwrap_err().kind,
        ErrorKind::Denied
    );
    assert!(queue.is_alive());
}

/// Notes the deadlines that it is given.
#[derive(Clone, Default)]
struct DeadlineRedis(Arc<AtomicU32>);

impl Redis for DeadlineRedis {
    async fn execute(&self, _argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.0.fetch_max(timeout_ms, Ordering::Relaxed);
        Ok(vec![Value::Int(0)])
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.0.fetch_max(timeout_ms, Ordering::Relaxed);
        Ok(commands.iter().map(|_| Ok(vec![Value::Int(0)])).collect())
    }
}

#[tokio::test]
async fn deadlines_are_shortened_to_the_limit() {
    let redis = DeadlineRedis::default();
    let mut limits = Limits::default();
    limits.command_timeout_ms = 1_234;
    let mut config = Config::new("jobs");
    config.command_timeout_ms = 5_000;
    let ctx = ctx(redis.clone(), limits);
    let mut queue = QueueInstance::open(&runtime(), ctx, "main", &config)
        .await
        .unwrap();
    queue.publish(&[message("x")]).await.unwrap();
    assert_eq!(redis.0.load(Ordering::Relaxed), 1_234);
}
