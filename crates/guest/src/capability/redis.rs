//! Redis, from `leaseline:redis/client`.

use alloc::vec::Vec;

use leaseline_core::capability::{PipelineReply, Redis, RedisError, Reply, ServerError, Value};

use crate::bindings::leaseline::redis::client::{self, Connection};

/// A connection that the host opened.
pub(crate) struct HostRedis(Connection);

impl HostRedis {
    /// Opens the connection that the host knows by `label`.
    pub(crate) fn open(label: &str) -> Result<Self, RedisError> {
        Connection::open(label).map(Self).map_err(error)
    }
}

impl Redis for HostRedis {
    async fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> Reply {
        self.0.execute(argv, timeout_ms).map(values).map_err(error)
    }

    async fn pipeline(&self, commands: &[&[&[u8]]], timeout_ms: u32) -> PipelineReply {
        let replies = self.0.pipeline(commands, timeout_ms).map_err(error)?;
        Ok(replies
            .into_iter()
            .map(|reply| reply.map(values).map_err(server_error))
            .collect())
    }
}

fn values(values: Vec<client::Value>) -> Vec<Value> {
    values.into_iter().map(value).collect()
}

fn value(value: client::Value) -> Value {
    match value {
        client::Value::Nil => Value::Nil,
        client::Value::Int(integer) => Value::Int(integer),
        client::Value::Status(status) => Value::Status(status),
        client::Value::Bytes(bytes) => Value::Bytes(bytes),
    }
}

fn server_error(error: client::ServerError) -> ServerError {
    ServerError {
        code: error.code,
        message: error.message,
    }
}

fn error(error: client::Error) -> RedisError {
    match error {
        client::Error::NotSent(why) => RedisError::NotSent(why),
        client::Error::Unknown(why) => RedisError::Unknown(why),
        client::Error::Timeout => RedisError::Timeout,
        client::Error::Server(error) => RedisError::Server(server_error(error)),
        client::Error::Denied(why) => RedisError::Denied(why),
        client::Error::TooLarge(bytes) => RedisError::TooLarge(bytes),
        client::Error::UnsupportedReply(why) => RedisError::UnsupportedReply(why),
    }
}
