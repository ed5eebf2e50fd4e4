//! A Redis capability behind one type, whatever the embedder's is.

use std::pin::Pin;
use std::sync::Arc;

use leaseline_core::capability::{PipelineReply, Redis, Reply};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a guest's `connection` stands for: one of the capabilities that the embedder granted.
#[derive(Clone)]
pub struct Connection(Arc<dyn AnyRedis>);

impl Connection {
    pub(crate) fn new(redis: impl Redis + 'static) -> Self {
        Self(Arc::new(redis))
    }

    pub(crate) async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.0.execute(argv, timeout_ms).await
    }

    pub(crate) async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.0.pipeline(commands, timeout_ms).await
    }
}

/// [`Redis`] with boxed futures, so that it can stand behind a pointer.
trait AnyRedis: Send + Sync {
    fn execute<'a>(&'a self, argv: &'a [&'a [u8]], timeout_ms: u32) -> BoxFuture<'a, Reply>;

    fn pipeline<'a>(
        &'a self,
        commands: &'a [&'a [&'a [u8]]],
        timeout_ms: u32,
    ) -> BoxFuture<'a, PipelineReply>;
}

impl<R: Redis> AnyRedis for R {
    fn execute<'a>(&'a self, argv: &'a [&'a [u8]], timeout_ms: u32) -> BoxFuture<'a, Reply> {
        Box::pin(Redis::execute(self, argv, timeout_ms))
    }

    fn pipeline<'a>(
        &'a self,
        commands: &'a [&'a [&'a [u8]]],
        timeout_ms: u32,
    ) -> BoxFuture<'a, PipelineReply> {
        Box::pin(Redis::pipeline(self, commands, timeout_ms))
    }
}
