//! A connection that loses a reply on purpose.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use leaseline::Connection;
use leaseline::capability::{PipelineReply, Redis, RedisError, Reply, Value};

/// Passes everything on, except for one reply, once it is told to. Clones share that.
#[derive(Clone)]
pub(super) struct LosesReply {
    inner: Connection,
    armed: Arc<AtomicBool>,
    lost: Arc<Mutex<Option<Vec<Value>>>>,
}

impl LosesReply {
    pub(super) fn new(inner: Connection) -> Self {
        Self {
            inner,
            armed: Arc::default(),
            lost: Arc::default(),
        }
    }

    /// The reply of the next script that runs will be lost.
    pub(super) fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    /// The reply that was lost.
    pub(super) fn lost(&self) -> Option<Vec<Value>> {
        self.lost
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Redis for LosesReply {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        // An error is passed on: the script did not run, so there is nothing to lose.
        let reply = self.inner.execute(argv, timeout_ms).await?;
        let script = argv.first().is_some_and(|name| name.starts_with(b"EVAL"));
        if script && self.armed.swap(false, Ordering::SeqCst) {
            *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(reply);
            return Err(RedisError::Unknown("lost on purpose".into()));
        }
        Ok(reply)
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        self.inner.pipeline(commands, timeout_ms).await
    }
}
