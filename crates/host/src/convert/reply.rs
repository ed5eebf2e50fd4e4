//! Replies of Redis, on their way into the guest.

use leaseline_core::capability::{RedisError, ServerError, Value};

use crate::bindings::leaseline::redis::client;

/// More text than any error needs. What comes from a server or from a broken capability must not
/// fill the guest's memory.
const MAX_TEXT: usize = 4 << 10;

pub(crate) fn values(values: Vec<Value>) -> Vec<client::Value> {
    values.into_iter().map(value).collect()
}

fn value(value: Value) -> client::Value {
    match value {
        Value::Nil => client::Value::Nil,
        Value::Int(integer) => client::Value::Int(integer),
        Value::Status(status) => client::Value::Status(status),
        Value::Bytes(bytes) => client::Value::Bytes(bytes),
    }
}

/// One reply of a pipeline.
pub(crate) fn pipelined(
    reply: Result<Vec<Value>, ServerError>,
) -> Result<Vec<client::Value>, client::ServerError> {
    reply.map(values).map_err(server_error)
}

fn server_error(error: ServerError) -> client::ServerError {
    client::ServerError {
        code: bounded(error.code),
        message: bounded(error.message),
    }
}

pub(crate) fn error(error: RedisError) -> client::Error {
    match error {
        RedisError::NotSent(why) => client::Error::NotSent(bounded(why)),
        RedisError::Unknown(why) => client::Error::Unknown(bounded(why)),
        RedisError::Timeout => client::Error::Timeout,
        RedisError::Server(error) => client::Error::Server(server_error(error)),
        RedisError::Denied(why) => client::Error::Denied(bounded(why)),
        RedisError::TooLarge(bytes) => client::Error::TooLarge(bytes),
        RedisError::UnsupportedReply(why) => client::Error::UnsupportedReply(bounded(why)),
    }
}

fn bounded(mut text: String) -> String {
    text.truncate(shortened(&text).len());
    text
}

/// The text, cut to a bearable length between two characters.
pub(crate) fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut_between_characters() {
        let text = "ä".repeat(MAX_TEXT);
        assert_eq!(shortened(&text).len(), MAX_TEXT);
        assert_eq!(shortened(&format!("x{text}")).len(), MAX_TEXT - 1);
        assert_eq!(bounded("short".into()), "short");
    }
}
