//! A Redis capability behind one type, whatever the embedder's is.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use leaseline_core::capability::{PipelineReply, Redis, Reply};

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a guest's `connection` stands for: one of the capabilities that the embedder granted.
/// Copies share it.
#[derive(Clone)]
pub struct Connection(Arc<dyn AnyRedis>);

impl Connection {
    /// Any Redis as one type.
    pub fn new(redis: impl Redis + 'static) -> Self {
        Self(Arc::new(redis))
    }
}

impl Redis for Connection {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.0.execute(argv, timeout_ms).await
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.0.pipeline(commands, timeout_ms).await
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
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
