//! Raw commands at the server that has a queue.

use leaseline::Connection;
use leaseline::capability::{Redis, RedisError, Value};

const COMMAND_TIMEOUT_MS: u32 = 5_000;

/// The texts that a command answers, of a cluster at the node that has this key: many commands name
/// no key, and a pipeline goes to one node.
pub(crate) async fn beside(
    connection: &Connection,
    key: &str,
    argv: &[&str],
) -> Result<Vec<String>, RedisError> {
    let argv: Vec<&[u8]> = argv.iter().map(|argument| argument.as_bytes()).collect();
    let leader: [&[u8]; 2] = [b"EXISTS", key.as_bytes()];
    let mut replies = connection
        .pipeline(&[&leader, &argv], COMMAND_TIMEOUT_MS)
        .await?;
    let reply = replies.pop().unwrap_or_else(|| Ok(Vec::new()));
    Ok(reply
        .map_err(RedisError::Server)?
        .into_iter()
        .map(text)
        .collect())
}

fn text(value: Value) -> String {
    match value {
        Value::Nil => String::new(),
        Value::Int(number) => number.to_string(),
        Value::Status(text) => text,
        Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}
