//! Shared by the tests; each uses a part of it.
#![allow(dead_code, unreachable_pub)]

use std::time::Duration;

use leaseline_core::capability::{Redis, RedisError, Reply, Value};
use leaseline_redis::testing::{FaultProxy, RedisServer};
use leaseline_redis::{Connection, Connector};

/// Long enough for a healthy reply on a busy machine.
pub const PATIENT: u32 = 20_000;

/// Short, where the reply is known not to come.
pub const BRIEF: u32 = 300;

pub fn connector(url: &str) -> Connector {
    Connector::new(url)
        .expect("a valid address")
        .connect_timeout(Duration::from_secs(10))
}

pub async fn open(url: &str) -> Connection {
    connector(url).open().await.expect("the server is there")
}

/// A server, a proxy in front of it, and a connection through the proxy.
pub async fn proxied() -> (RedisServer, FaultProxy, Connection) {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port()).await;
    let connection = open(&proxy.url()).await;
    (server, proxy, connection)
}

/// Runs a command written with spaces.
pub async fn run(connection: &impl Redis, command: &str, timeout_ms: u32) -> Reply {
    let argv: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
    connection.execute(&argv, timeout_ms).await
}

/// The integer that a command answers.
pub async fn int(connection: &Connection, command: &str) -> i64 {
    match run(connection, command, PATIENT).await.as_deref() {
        Ok([Value::Int(number)]) => *number,
        other => panic!("{command}: {other:?}"),
    }
}

pub fn text(text: &str) -> Value {
    Value::Bytes(text.as_bytes().to_vec())
}

/// How often INCR on `key` took effect, asked around the proxy.
pub async fn count(server: &RedisServer, key: &str) -> i64 {
    let direct = open(&server.url()).await;
    match run(&direct, &format!("GET {key}"), PATIENT)
        .await
        .as_deref()
    {
        Ok([Value::Nil]) => 0,
        Ok([Value::Bytes(digits)]) => String::from_utf8_lossy(digits).parse().expect("a number"),
        other => panic!("{other:?}"),
    }
}

pub fn is_unknown(reply: &Reply) -> bool {
    matches!(reply, Err(RedisError::Unknown(_)))
}

pub fn is_not_sent(reply: &Reply) -> bool {
    matches!(reply, Err(RedisError::NotSent(_)))
}
