//! Replies of a real server: values, server errors, sizes, policy.

mod support;

use leaseline_core::capability::{Redis, RedisError, ServerError, Value};
use leaseline_redis::testing::RedisServer;
use support::{PATIENT, connector, int, open, run, text};

#[tokio::test]
async fn values_of_every_type() {
    let server = RedisServer::start();
    let redis = open(&server.url()).await;
    assert_eq!(
        run(&redis, "SET k v", PATIENT).await,
        Ok(vec![Value::Status("OK".into())])
    );
    assert_eq!(run(&redis, "GET k", PATIENT).await, Ok(vec![text("v")]));
    assert_eq!(
        run(&redis, "GET missing", PATIENT).await,
        Ok(vec![Value::Nil])
    );
    assert_eq!(
        run(&redis, "ZADD z 0.1 a", PATIENT).await,
        Ok(vec![Value::Int(1)])
    );
    assert_eq!(
        run(&redis, "ZSCORE z a", PATIENT).await,
        Ok(vec![text("0.10000000000000001")])
    );
    let binary = [0, 255, 13, 10, 0];
    redis
        .execute(&[b"SET", &binary, b""], PATIENT)
        .await
        .expect("binary key, empty value");
    assert_eq!(
        redis.execute(&[b"GET", &binary], PATIENT).await,
        Ok(vec![text("")])
    );

    let script: &[u8] = b"return {1, {'a', {}, {false}}, redis.status_reply('FINE'), 3.9}";
    let expected = vec![
        Value::Int(1),
        text("a"),
        Value::Nil,
        Value::Status("FINE".into()),
        Value::Int(3),
    ];
    assert_eq!(
        redis.execute(&[b"EVAL", script, b"0"], PATIENT).await,
        Ok(expected)
    );
}

#[tokio::test]
async fn server_errors_keep_their_code_and_text() {
    let server = RedisServer::start();
    let redis = open(&server.url()).await;
    run(&redis, "SET k v", PATIENT).await.expect("set");
    let wrong_type = Err(RedisError::Server(ServerError {
        code: "WRONGTYPE".into(),
        message: "Operation against a key holding the wrong kind of value".into(),
    }));
    assert_eq!(run(&redis, "LPUSH k x", PATIENT).await, wrong_type);

    let missing = format!("EVALSHA {} 0", "0".repeat(40));
    let Err(RedisError::Server(error)) = run(&redis, &missing, PATIENT).await else {
        panic!("NOSCRIPT expected");
    };
    assert_eq!(
        error.to_string(),
        "NOSCRIPT No matching script. Please use EVAL."
    );

    let script: &[u8] = b"return redis.error_reply('MYCODE  some: text ')";
    let error = redis
        .execute(&[b"EVAL", script, b"0"], PATIENT)
        .await
        .expect_err("own error");
    let own = ServerError {
        code: "MYCODE".into(),
        message: " some: text ".into(),
    };
    assert_eq!(error, RedisError::Server(own));

    let script: &[u8] = b"return {1, redis.error_reply('INNER text')}";
    let error = redis
        .execute(&[b"EVAL", script, b"0"], PATIENT)
        .await
        .expect_err("nested error");
    assert!(matches!(&error, RedisError::UnsupportedReply(text) if text.contains("INNER text")));
}

#[tokio::test]
async fn out_of_memory_and_busy_are_told_apart() {
    let server = RedisServer::builder()
        .config("maxmemory", "1")
        .config("lua-time-limit", "50")
        .start();
    let redis = open(&server.url()).await;
    let error = run(&redis, "SET k v", PATIENT)
        .await
        .expect_err("out of memory");
    assert!(
        matches!(&error, RedisError::Server(error) if error.code == "OOM"),
        "{error:?}"
    );

    let endless = open(&server.url()).await;
    let script: &[u8] = b"while true do end";
    let running =
        tokio::spawn(async move { endless.execute(&[b"EVAL", script, b"0"], PATIENT).await });
    loop {
        match run(&redis, "GET k", PATIENT).await {
            Err(RedisError::Server(error)) if error.code == "BUSY" => break,
            Ok(_) => tokio::task::yield_now().await,
            other => panic!("{other:?}"),
        }
    }
    run(&redis, "SCRIPT KILL", PATIENT).await.expect("killed");
    let error = running.await.expect("joined").expect_err("killed");
    assert!(
        matches!(&error, RedisError::Server(error) if error.code == "ERR"),
        "{error:?}"
    );
}

#[tokio::test]
async fn errors_in_a_pipeline_belong_to_their_command() {
    let server = RedisServer::start();
    let redis = open(&server.url()).await;
    let absent = "0".repeat(40);
    let commands: [&[&[u8]]; 4] = [
        &[b"SET", b"k", b"v"],
        &[b"LPUSH", b"k", b"x"],
        &[b"EVALSHA", absent.as_bytes(), b"0"],
        &[b"APPEND", b"k", b"w"],
    ];
    let replies = redis
        .pipeline(&commands, PATIENT)
        .await
        .expect("a pipeline");
    assert_eq!(replies.len(), 4);
    assert_eq!(replies[0], Ok(vec![Value::Status("OK".into())]));
    assert_eq!(
        replies[1].as_ref().map_err(|error| error.code.as_str()),
        Err("WRONGTYPE")
    );
    assert_eq!(
        replies[2].as_ref().map_err(|error| error.code.as_str()),
        Err("NOSCRIPT")
    );
    assert_eq!(replies[3], Ok(vec![Value::Int(2)]));
    assert_eq!(redis.pipeline(&[], PATIENT).await, Ok(vec![]));
}

#[tokio::test]
async fn large_replies_are_refused_with_their_size_and_the_connection_lives_on() {
    let server = RedisServer::start();
    let redis = connector(&server.url())
        .max_reply_bytes(1_000)
        .open()
        .await
        .expect("open");
    let id = int(&redis, "CLIENT ID").await;
    run(&redis, "SETRANGE k 1999 x", PATIENT)
        .await
        .expect("a value of 2000 bytes");
    // $2000\r\n + 2000 + \r\n
    assert_eq!(
        run(&redis, "GET k", PATIENT).await,
        Err(RedisError::TooLarge(2_009))
    );
    let get: &[&[u8]] = &[b"GETRANGE", b"k", b"0", b"499"];
    assert!(redis.pipeline(&[get], PATIENT).await.is_ok());
    assert_eq!(
        redis.pipeline(&[get, get], PATIENT).await,
        Err(RedisError::TooLarge(1_016))
    );
    assert_eq!(int(&redis, "CLIENT ID").await, id, "the same connection");
}

#[tokio::test]
async fn a_reply_of_many_megabytes_arrives() {
    let server = RedisServer::start();
    let redis = open(&server.url()).await;
    let value = vec![b'x'; 16 * 1024 * 1024];
    redis
        .execute(&[b"SET", b"k", &value], PATIENT)
        .await
        .expect("set");
    assert_eq!(
        redis.execute(&[b"GET", b"k"], PATIENT).await,
        Ok(vec![Value::Bytes(value)])
    );
}

#[tokio::test]
async fn refused_commands_reach_no_server() {
    // Nothing listens there: a command that was allowed would fail as not sent.
    let redis = connector("redis://127.0.0.1:1").lazy();
    for command in [
        "BLPOP k 0",
        "SUBSCRIBE c",
        "MULTI",
        "SELECT 1",
        "XREAD BLOCK 0 STREAMS s $",
    ] {
        let error = run(&redis, command, PATIENT).await.expect_err(command);
        assert!(matches!(error, RedisError::Denied(_)), "{command}: {error}");
    }
    assert!(matches!(
        redis.execute(&[], PATIENT).await,
        Err(RedisError::Denied(_))
    ));
    let commands: [&[&[u8]]; 2] = [&[b"GET", b"k"], &[b"EXEC"]];
    assert!(matches!(
        redis.pipeline(&commands, PATIENT).await,
        Err(RedisError::Denied(_))
    ));
    assert!(matches!(
        run(&redis, "GET k", PATIENT).await,
        Err(RedisError::NotSent(_))
    ));
    assert!(matches!(
        run(&redis, "GET k", 0).await,
        Err(RedisError::NotSent(_))
    ));
}
