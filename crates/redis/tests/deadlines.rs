//! Silence: timeouts, half-open connections, dropped calls.

mod support;

use std::time::{Duration, Instant};

use leaseline_core::capability::{Redis, RedisError, Value};
use leaseline_redis::Connection;
use leaseline_redis::testing::{Fault, RedisServer, Rule};
use support::{BRIEF, PATIENT, count, int, is_not_sent, open, proxied, run, text};
use tokio::time::timeout;

/// Longer than any wait of these tests should be; only for those that hang.
const HANG: Duration = Duration::from_secs(60);

const TIMEOUT: Result<Vec<Value>, RedisError> = Err(RedisError::Timeout);

#[tokio::test]
async fn a_half_open_connection_times_out_and_is_replaced() {
    for (fault, ran) in [(Fault::StallBefore, 0), (Fault::StallReply, 1)] {
        let (server, proxy, redis) = proxied().await;
        proxy.inject(Rule::next(fault).of(["INCR"]));
        let start = Instant::now();
        assert_eq!(run(&redis, "INCR k", BRIEF).await, TIMEOUT);
        assert!(start.elapsed() >= Duration::from_millis(BRIEF.into()));
        assert_eq!(count(&server, "k").await, ran, "{fault:?}");
        assert_eq!(int(&redis, "INCR k").await, ran + 1, "{fault:?}");
        assert_eq!(proxy.connections(), 2, "{fault:?}");
    }
}

#[tokio::test]
async fn a_connection_that_goes_silent_when_idle_is_replaced() {
    let (_server, proxy, redis) = proxied().await;
    proxy.stall_all();
    assert_eq!(run(&redis, "INCR k", BRIEF).await, TIMEOUT);
    assert_eq!(int(&redis, "INCR k").await, 1);
}

#[tokio::test]
async fn a_half_open_pipeline_times_out() {
    let (server, proxy, redis) = proxied().await;
    proxy.inject(Rule::nth(2, Fault::StallReply).of(["INCR"]));
    let incr: &[&[u8]] = &[b"INCR", b"k"];
    assert_eq!(
        redis.pipeline(&[incr; 3], BRIEF).await,
        Err(RedisError::Timeout)
    );
    assert_eq!(count(&server, "k").await, 2);
    assert_eq!(int(&redis, "INCR k").await, 3);
}

/// redis-rs would give up after 500 ms by itself.
#[tokio::test]
async fn a_slow_reply_within_the_deadline_is_waited_for() {
    let (_server, proxy, redis) = proxied().await;
    proxy.inject(Rule::next(Fault::DelayReply(Duration::from_millis(1_200))).of(["INCR"]));
    assert_eq!(int(&redis, "INCR k").await, 1);
    assert_eq!(
        proxy.connections(),
        2,
        "after a second of silence others get a new one"
    );
}

/// What is sent just before a server is back need not wait for a deadline that is far away.
#[tokio::test]
async fn a_half_open_connection_is_left_once_its_server_answers_another() {
    for (fault, ran) in [(Fault::StallBefore, 0), (Fault::StallReply, 1)] {
        let (server, proxy, redis) = proxied().await;
        proxy.inject(Rule::next(fault).of(["INCR"]));
        let reply = timeout(HANG, run(&redis, "INCR k", u32::MAX)).await;
        let reply = reply.expect("the call waits for its deadline");
        assert!(matches!(reply, Err(RedisError::Unknown(_))), "{reply:?}");
        assert_eq!(count(&server, "k").await, ran, "{fault:?}");
        assert_eq!(int(&redis, "INCR k").await, ran + 1, "{fault:?}");
        assert_eq!(proxy.connections(), 2, "{fault:?}");
    }
}

/// As long as nobody answers, silence means nothing.
#[tokio::test]
async fn a_call_on_a_hung_server_is_answered_when_that_goes_on() {
    let server = RedisServer::start();
    let redis = open(&server.url()).await;
    server.freeze();
    let call = run(&redis, "INCR k", u32::MAX);
    let thaw = async {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        server.thaw();
    };
    let (reply, ()) = tokio::join!(call, thaw);
    assert_eq!(reply, Ok(vec![Value::Int(1)]));
}

/// A call that timed out takes its connection out of use, not away from the others on it.
#[tokio::test]
async fn neighbours_of_a_timed_out_call_get_their_replies() {
    let (_server, proxy, redis) = proxied().await;
    proxy.inject(Rule::next(Fault::DelayReply(Duration::from_millis(600))).of(["INCR"]));
    let hasty = run(&redis, "INCR k", BRIEF);
    let patient = run(&redis, "ECHO mine", PATIENT);
    let later = async {
        tokio::time::sleep(Duration::from_millis(u64::from(BRIEF) + 50)).await;
        run(&redis, "ECHO other", PATIENT).await
    };
    let (hasty, patient, later) = tokio::join!(hasty, patient, later);
    assert_eq!(hasty, TIMEOUT);
    assert_eq!(patient, Ok(vec![text("mine")]));
    assert_eq!(later, Ok(vec![text("other")]));
    assert_eq!(proxy.connections(), 2);
}

#[tokio::test]
async fn a_hung_server_is_first_a_timeout_and_then_not_sent() {
    let server = RedisServer::start();
    let redis = open(&server.url()).await;
    server.freeze();
    assert_eq!(run(&redis, "INCR k", BRIEF).await, TIMEOUT);
    for _ in 0..3 {
        let reply = run(&redis, "INCR k", BRIEF).await;
        assert!(is_not_sent(&reply), "{reply:?}");
    }
    server.thaw();
    let first = int(&redis, "INCR k").await;
    assert_eq!(
        first, 2,
        "the timed-out one ran in the end, the others never left"
    );
}

#[tokio::test]
async fn a_dropped_call_leaves_the_replies_in_order() {
    let (server, proxy, redis) = proxied().await;
    for delay_ms in 0..20 {
        proxy.inject(Rule::next(Fault::DelayReply(Duration::from_millis(20))).of(["INCR"]));
        let dropped = run(&redis, "INCR k", PATIENT);
        let cancelled = timeout(Duration::from_millis(delay_ms), dropped).await;
        let expected = format!("reply-{delay_ms}");
        let reply = run(&redis, &format!("ECHO {expected}"), PATIENT).await;
        assert_eq!(reply, Ok(vec![text(&expected)]), "after {cancelled:?}");
        proxy.clear();
    }
    assert_eq!(
        proxy.connections(),
        1,
        "cancelling is no reason to reconnect"
    );
    assert!(count(&server, "k").await <= 20);
}

#[tokio::test]
async fn many_callers_with_random_cancellation_each_get_their_own_reply() {
    let server = RedisServer::start();
    let redis = open(&server.url()).await;
    let callers: Vec<_> = (0..16_u64)
        .map(|caller| {
            let redis = redis.clone();
            tokio::spawn(async move {
                for round in 0..100_u64 {
                    let word = format!("{caller}-{round}");
                    let argv: [&[u8]; 2] = [b"ECHO", word.as_bytes()];
                    let limit = Duration::from_micros((caller * 31 + round * 17) % 400);
                    if let Ok(reply) = timeout(limit, redis.execute(&argv, PATIENT)).await {
                        assert_eq!(reply, Ok(vec![text(&word)]));
                    }
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.expect("each reply to its caller");
    }
}

/// Callers with their own, shorter deadline never let ours pass; a second of silence is enough.
#[tokio::test]
async fn a_silent_connection_is_replaced_when_its_callers_only_cancel() {
    let (_server, proxy, redis) = proxied().await;
    proxy.stall_all();
    let limit = Duration::from_millis(1_100);
    assert!(
        timeout(limit, run(&redis, "INCR k", PATIENT))
            .await
            .is_err()
    );
    assert_eq!(int(&redis, "INCR k").await, 1);
    assert_eq!(proxy.connections(), 2);
}

/// The socket of a retired half-open connection is closed, not leaked.
#[tokio::test]
async fn retired_connections_are_closed() {
    let (_server, proxy, redis) = proxied().await;
    for _ in 0..3 {
        proxy.inject(Rule::next(Fault::StallReply).of(["INCR"]));
        assert_eq!(run(&redis, "INCR k", BRIEF).await, TIMEOUT);
        assert!(run(&redis, "PING", PATIENT).await.is_ok());
    }
    assert_eq!(proxy.connections(), 4);
    // The server notices the ends of the retired ones when it gets to it.
    let limit = Instant::now() + Duration::from_secs(10);
    while clients(&redis).await > 1 {
        assert!(
            Instant::now() < limit,
            "{} connections",
            clients(&redis).await
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// How many connections of ours the server has.
async fn clients(redis: &Connection) -> usize {
    let list = run(redis, "CLIENT LIST", PATIENT).await.expect("list");
    let [Value::Bytes(list)] = list.as_slice() else {
        panic!("{list:?}")
    };
    String::from_utf8_lossy(list)
        .matches("name=leaseline")
        .count()
}

/// The connection's driver lives on the runtime that dialled; another runtime dials its own.
#[test]
fn a_connection_survives_its_runtime() {
    let server = RedisServer::start();
    let redis = support::connector(&server.url()).lazy();
    for expected in 1..=3 {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let count = runtime.expect("a runtime").block_on(int(&redis, "INCR k"));
        assert_eq!(count, expected);
    }
}
