//! A connection of its own: it blocks, and whatever ends a call early closes it.

mod support;

use std::time::Duration;

use leaseline_core::capability::{Redis, RedisError, Reply, Value};
use leaseline_redis::Dedicated;
use leaseline_redis::testing::{Cut, Fault, FaultProxy, RedisServer, Rule};
use support::{PATIENT, connector, open, run, text};

async fn ask(connection: &Dedicated, command: &str, timeout_ms: u32) -> Reply {
    let argv: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
    connection.execute(&argv, timeout_ms).await
}

/// How many clients of that name the server has; one that was closed is soon gone.
async fn until_clients(server: &RedisServer, expected: usize) {
    let direct = open(&server.url()).await;
    loop {
        let reply = run(&direct, "CLIENT LIST", PATIENT).await.expect("a list");
        let [Value::Bytes(list)] = &reply[..] else {
            panic!("{reply:?}");
        };
        let list = String::from_utf8_lossy(list);
        if list.matches(" name=waiter ").count() == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn it_blocks_until_there_is_something() {
    let server = RedisServer::start();
    let waiting = connector(&server.url()).dedicated("waiter");
    let nothing = ask(&waiting, "BLMOVE l l RIGHT RIGHT 0.05", PATIENT).await;
    assert_eq!(nothing, Ok(vec![Value::Nil]));
    let other = open(&server.url()).await;
    let (moved, pushed) = tokio::join!(
        ask(&waiting, "BLMOVE l l RIGHT RIGHT 0", PATIENT),
        run(&other, "LPUSH l a", PATIENT)
    );
    assert_eq!(
        (moved, pushed),
        (Ok(vec![text("a")]), Ok(vec![Value::Int(1)]))
    );
    let replies = waiting
        .pipeline(&[&[b"LLEN", b"l"], &[b"GET", b"l"]], PATIENT)
        .await;
    let replies = replies.expect("a pipeline");
    assert_eq!(replies[0], Ok(vec![Value::Int(1)]));
    assert!(replies[1].is_err());
    until_clients(&server, 1).await;
    drop(waiting);
    until_clients(&server, 0).await;
}

#[tokio::test]
async fn a_call_that_ends_early_closes_it_and_the_next_one_dials() {
    let server = RedisServer::start();
    let waiting = connector(&server.url()).dedicated("waiter");
    let late = ask(&waiting, "BLMOVE l l RIGHT RIGHT 0", 50).await;
    assert_eq!(late, Err(RedisError::Timeout));
    until_clients(&server, 0).await;
    tokio::select! {
        reply = ask(&waiting, "BLMOVE l l RIGHT RIGHT 0", PATIENT) => panic!("{reply:?}"),
        () = until_clients(&server, 1) => {}
    }
    until_clients(&server, 0).await;
    assert_eq!(
        ask(&waiting, "LLEN l", PATIENT).await,
        Ok(vec![Value::Int(0)])
    );
}

#[tokio::test]
async fn a_lost_connection_is_unknown_and_a_missing_server_is_not_sent() {
    let mut server = RedisServer::start();
    let proxy = FaultProxy::start(server.port()).await;
    let waiting = connector(&proxy.url()).dedicated("waiter");
    proxy.inject(Rule::next(Fault::LoseReply(Cut::Reset)).of(["INCR"]));
    let lost = ask(&waiting, "INCR k", PATIENT).await;
    assert!(matches!(lost, Err(RedisError::Unknown(_))), "{lost:?}");
    assert_eq!(
        ask(&waiting, "INCR k", PATIENT).await,
        Ok(vec![Value::Int(2)])
    );
    server.kill9();
    let direct = connector(&server.url()).dedicated("waiter");
    let down = ask(&direct, "INCR k", PATIENT).await;
    assert!(matches!(down, Err(RedisError::NotSent(_))), "{down:?}");
}

#[tokio::test]
async fn what_would_change_it_is_refused_before_it_dials() {
    let server = RedisServer::start();
    let waiting = connector(&server.url()).dedicated("waiter");
    for command in ["SUBSCRIBE c", "MULTI", "SELECT 1"] {
        let refused = ask(&waiting, command, PATIENT).await;
        assert!(matches!(refused, Err(RedisError::Denied(_))), "{refused:?}");
    }
    until_clients(&server, 0).await;
}
