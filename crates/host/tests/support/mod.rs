//! Capabilities for tests.
#![allow(dead_code, reason = "each test uses some of them")]

use std::sync::{Arc, Mutex, OnceLock};

use leaseline_redis_model::{Clock, Options, Profile, Reply as ModelReply, Server};
use leaseline_wasmtime::{
    Ctx, Limits, PipelineReply, QueueInstance, Redis, RedisError, Reply, Runtime, ServerError,
    Value,
};

pub(crate) use leaseline_core::Config;
use leaseline_core::message::{Outgoing, Payload};

/// The component, compiled once for all tests of a process.
pub(crate) fn runtime() -> Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME
        .get_or_init(|| Runtime::bundled().expect("the component compiles"))
        .clone()
}

/// A context that grants `redis` as `main`.
pub(crate) fn ctx(redis: impl Redis + 'static, limits: Limits) -> Ctx {
    Ctx::builder().redis("main", redis).limits(limits).build()
}

/// A queue called `jobs` over `redis`.
pub(crate) async fn open(redis: impl Redis + 'static, limits: Limits) -> QueueInstance {
    let config = Config::new("jobs");
    QueueInstance::open(&runtime(), ctx(redis, limits), "main", &config)
        .await
        .expect("the queue opens")
}

pub(crate) fn message(payload: impl Into<Vec<u8>>) -> Outgoing {
    Outgoing {
        payload: Payload::Bytes(payload.into()),
        ..Outgoing::default()
    }
}

/// A Redis that runs the queue's scripts. Copies share it.
#[derive(Clone)]
pub(crate) struct ModelRedis(Arc<Mutex<Server>>);

impl ModelRedis {
    pub(crate) fn new() -> Self {
        let clock = Clock::Virtual(1_700_000_000_000_000);
        Self(Arc::new(Mutex::new(Server::new(Options {
            profile: Profile::Redis72,
            clock,
        }))))
    }
}

impl Redis for ModelRedis {
    async fn execute(&self, argv: &[&[u8]], _timeout_ms: u32) -> Reply {
        let mut values = Vec::new();
        match self
            .0
            .lock()
            .expect("no test panics with the lock")
            .execute(argv)
        {
            ModelReply::Error(line) => {
                let line = String::from_utf8_lossy(&line);
                Err(RedisError::Server(ServerError::from_line(&line)))
            }
            reply => {
                flatten(reply, &mut values);
                Ok(values)
            }
        }
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        let mut replies = Vec::new();
        for argv in commands {
            replies.push(
                self.execute(argv, timeout_ms)
                    .await
                    .map_err(|error| match error {
                        RedisError::Server(error) => error,
                        other => unreachable!("the model answers: {other}"),
                    }),
            );
        }
        Ok(replies)
    }
}

fn flatten(reply: ModelReply, values: &mut Vec<Value>) {
    match reply {
        ModelReply::Nil | ModelReply::NilArray => values.push(Value::Nil),
        ModelReply::Integer(integer) => values.push(Value::Int(integer)),
        ModelReply::Status(text) => {
            values.push(Value::Status(String::from_utf8_lossy(&text).into_owned()));
        }
        ModelReply::Bulk(bytes) => values.push(Value::Bytes(bytes)),
        ModelReply::Array(replies) => {
            replies.into_iter().for_each(|reply| flatten(reply, values));
        }
        ModelReply::Error(line) => values.push(Value::Bytes(line)),
        other => panic!("a reply that RESP2 does not have: {other:?}"),
    }
}

/// A Redis whose every answer the test decides.
#[derive(Clone)]
pub(crate) struct AnsweringRedis(Arc<Answer>);

type Answer = dyn Fn(&[&[u8]]) -> Reply + Send + Sync;

impl AnsweringRedis {
    pub(crate) fn new(answer: impl Fn(&[&[u8]]) -> Reply + Send + Sync + 'static) -> Self {
        Self(Arc::new(answer))
    }
}

impl Redis for AnsweringRedis {
    async fn execute(&self, argv: &[&[u8]], _timeout_ms: u32) -> Reply {
        (self.0)(argv)
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], _timeout_ms: u32) -> PipelineReply {
        let reply = |argv: &&[&[u8]]| match (self.0)(argv) {
            Ok(values) => Ok(Ok(values)),
            Err(RedisError::Server(error)) => Ok(Err(error)),
            Err(error) => Err(error),
        };
        commands.iter().map(reply).collect()
    }
}

/// A Redis that never answers.
#[derive(Clone, Copy)]
pub(crate) struct SilentRedis;

impl Redis for SilentRedis {
    async fn execute(&self, _argv: &[&[u8]], _timeout_ms: u32) -> Reply {
        std::future::pending().await
    }

    async fn pipeline(&self, _commands: &[&[&[u8]]], _timeout_ms: u32) -> PipelineReply {
        std::future::pending().await
    }
}
