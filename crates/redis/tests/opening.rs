//! Opening: what an operator is told when it does not work.

mod support;

use std::time::Duration;

use leaseline_core::capability::RedisError;
use leaseline_redis::testing::{FaultProxy, RedisServer, free_port};
use leaseline_redis::{Connector, OpenError};
use support::{PATIENT, connector, int, open, run, text};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

fn shows_no_secret(error: &OpenError) {
    let texts = [
        error.to_string(),
        format!("{error:?}"),
        RedisError::from(error.clone()).to_string(),
    ];
    for shown in texts {
        assert!(
            !shown.contains("hunter2") && !shown.contains("worker"),
            "{shown}"
        );
    }
}

#[tokio::test]
async fn nobody_listens() {
    let port = free_port();
    let url = format!("redis://worker:hunter2@127.0.0.1:{port}");
    let error = connector(&url).open().await.expect_err("nobody there");
    assert_eq!(
        error.to_string(),
        format!("cannot reach 127.0.0.1:{port}: connection refused")
    );
    shows_no_secret(&error);

    let lazy = connector(&url).lazy();
    let error = run(&lazy, "GET k", PATIENT)
        .await
        .expect_err("nobody there");
    assert!(matches!(error, RedisError::NotSent(_)), "{error}");
    assert!(!format!("{lazy:?} {error}").contains("hunter2"));
}

#[tokio::test]
async fn no_such_host_or_socket() {
    let error = connector("redis://no-such-host.invalid")
        .open()
        .await
        .expect_err("no such host");
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error}");
    let error = connector("redis+unix:///nowhere/redis.sock")
        .open()
        .await
        .expect_err("no socket");
    assert_eq!(
        error.to_string(),
        "cannot reach /nowhere/redis.sock: no such socket"
    );
}

#[tokio::test]
async fn passwords() {
    let server = RedisServer::builder().password("right-hunter2").start();
    let port = server.port();
    let error = connector(&format!("redis://127.0.0.1:{port}"))
        .open()
        .await
        .expect_err("none");
    let OpenError::Unauthenticated { error: said, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(said.code, "NOAUTH");

    for login in [":wrong-hunter2", "worker:hunter2"] {
        let url = format!("redis://{login}@127.0.0.1:{port}");
        let error = connector(&url).open().await.expect_err("wrong");
        let OpenError::Unauthenticated { error: said, .. } = &error else {
            panic!("{error}")
        };
        assert_eq!(said.code, "WRONGPASS");
        shows_no_secret(&error);

        let reply = run(&connector(&url).lazy(), "GET k", PATIENT).await;
        let Err(RedisError::Server(said)) = reply else {
            panic!("{reply:?}")
        };
        assert_eq!(said.code, "WRONGPASS");
    }
    let redis = open(&server.url()).await;
    assert_eq!(run(&redis, "ECHO hi", PATIENT).await, Ok(vec![text("hi")]));

    let open_server = RedisServer::start();
    let url = format!("redis://worker:hunter2@127.0.0.1:{}", open_server.port());
    let error = connector(&url).open().await.expect_err("no such user");
    assert!(
        matches!(error, OpenError::Unauthenticated { .. }),
        "{error}"
    );
    let url = format!("redis://:hunter2@127.0.0.1:{}", open_server.port());
    let error = connector(&url)
        .open()
        .await
        .expect_err("the server has no password");
    assert!(
        matches!(error, OpenError::Unauthenticated { .. }),
        "{error}"
    );
    shows_no_secret(&error);
}

#[tokio::test]
async fn databases_and_unix_sockets() {
    let server = RedisServer::builder().config("databases", "4").start();
    let third = open(&format!("redis://127.0.0.1:{}/3", server.port())).await;
    run(&third, "SET k v", PATIENT).await.expect("set");
    assert_eq!(int(&open(&server.url()).await, "EXISTS k").await, 0);
    let socket = server.unix_socket();
    let local = open(&format!("redis+unix://{}?db=3", socket.display())).await;
    assert_eq!(int(&local, "EXISTS k").await, 1);

    let url = format!("redis://127.0.0.1:{}/4", server.port());
    let error = connector(&url).open().await.expect_err("no such database");
    assert!(matches!(&error, OpenError::Refused { error, .. } if error.message.contains("DB")));
}

#[tokio::test]
async fn a_full_server_is_heard() {
    let server = RedisServer::builder().config("maxclients", "1").start();
    // The server may still count the connection that saw it start.
    let _first = loop {
        if let Ok(first) = connector(&server.url()).open().await {
            break first;
        }
    };
    let error = connector(&server.url()).open().await.expect_err("full");
    let OpenError::Refused { error: said, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(said.message, "max number of clients reached");
}

#[tokio::test]
async fn a_silent_server_ends_in_the_connect_timeout() {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port()).await;
    proxy.fall_silent().await;
    let limit = Duration::from_millis(200);
    let silent = Connector::new(&proxy.url())
        .expect("valid")
        .connect_timeout(limit);
    let error = silent.clone().open().await.expect_err("silence");
    assert!(matches!(error, OpenError::ConnectTimeout { .. }), "{error}");
    // Through a call it is "not sent", whichever limit is the shorter.
    for timeout_ms in [50, PATIENT] {
        let reply = run(&silent.clone().lazy(), "INCR k", timeout_ms).await;
        assert!(support::is_not_sent(&reply), "{reply:?}");
    }
}

#[tokio::test]
async fn other_protocols_are_recognised() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let url = format!("redis://{}", listener.local_addr().expect("address"));
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("accept");
        socket
            .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            .await
            .expect("write");
        std::future::pending::<()>().await;
    });
    let error = connector(&url).open().await.expect_err("HTTP");
    assert!(matches!(error, OpenError::NotRedis { .. }), "{error}");
    server.abort();
}

#[tokio::test]
async fn a_short_deadline_does_not_undo_the_dialling() {
    let server = RedisServer::start();
    let lazy = connector(&server.url()).lazy();
    server.freeze();
    assert!(support::is_not_sent(&run(&lazy, "INCR k", 50).await));
    server.thaw();
    // The same dialling goes on and serves the next call.
    assert_eq!(int(&lazy, "INCR k").await, 1);
    assert!(
        int(&lazy, "CLIENT ID").await < 5,
        "one connection, not one per attempt"
    );
}
