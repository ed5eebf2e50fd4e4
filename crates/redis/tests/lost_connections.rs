//! Cut connections: what is reported, what has run, and that the next call works.

mod support;

use leaseline_core::capability::{Redis, RedisError, Value};
use leaseline_redis::testing::{Cut, Fault, FaultProxy, RedisServer, Rule};
use support::{PATIENT, count, int, is_not_sent, is_unknown, open, proxied, run};

const CUTS: [Cut; 2] = [Cut::Finish, Cut::Reset];

#[tokio::test]
async fn cut_before_the_server_is_unknown_and_did_not_run() {
    for cut in CUTS {
        for fault in [Fault::CutBefore(cut), Fault::CutInside(cut)] {
            let (server, proxy, redis) = proxied().await;
            proxy.inject(Rule::next(fault).of(["INCR"]));
            let reply = run(&redis, "INCR k", PATIENT).await;
            assert!(is_unknown(&reply), "{fault:?}: {reply:?}");
            assert_eq!(count(&server, "k").await, 0, "{fault:?}");
            assert_eq!(int(&redis, "INCR k").await, 1, "{fault:?}: reconnected");
            assert_eq!(proxy.connections(), 2);
        }
    }
}

#[tokio::test]
async fn cut_after_the_server_is_unknown_and_ran_once() {
    for cut in CUTS {
        let (server, proxy, redis) = proxied().await;
        proxy.inject(Rule::nth(2, Fault::LoseReply(cut)).of(["INCR"]));
        assert_eq!(int(&redis, "INCR k").await, 1);
        let reply = run(&redis, "INCR k", PATIENT).await;
        assert!(is_unknown(&reply), "{cut:?}: {reply:?}");
        assert_eq!(count(&server, "k").await, 2, "{cut:?}");
        assert_eq!(proxy.requests("INCR"), 2, "no resend");
        assert_eq!(int(&redis, "INCR k").await, 3, "{cut:?}: reconnected");
    }
}

#[tokio::test]
async fn a_cut_inside_a_pipeline_fails_all_of_it() {
    let incr: &[&[u8]] = &[b"INCR", b"k"];
    let commands = [incr; 5];
    let faults = [
        (Fault::CutBefore(Cut::Reset), 2),
        (Fault::CutInside(Cut::Finish), 2),
        (Fault::LoseReplyAndRest(Cut::Reset), 3),
        (Fault::LoseReply(Cut::Finish), 5),
    ];
    for (fault, ran) in faults {
        let (server, proxy, redis) = proxied().await;
        proxy.inject(Rule::nth(3, fault).of(["INCR"]));
        let reply = redis.pipeline(&commands, PATIENT).await;
        assert!(
            matches!(reply, Err(RedisError::Unknown(_))),
            "{fault:?}: {reply:?}"
        );
        assert_eq!(count(&server, "k").await, ran, "{fault:?}");
        let again = redis
            .pipeline(&commands, PATIENT)
            .await
            .expect("reconnected");
        assert_eq!(again[0], Ok(vec![Value::Int(ran + 1)]), "{fault:?}");
    }
}

#[tokio::test]
async fn an_idle_connection_that_was_cut_costs_nothing() {
    for cut in CUTS {
        let (_server, proxy, redis) = proxied().await;
        assert_eq!(int(&redis, "INCR k").await, 1);
        proxy.cut_all(cut);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert_eq!(
            int(&redis, "INCR k").await,
            2,
            "dialled again without an error"
        );
        assert_eq!(proxy.connections(), 2);
    }
}

/// The end of the connection and the next call race; whoever wins, "not sent" must be true, and
/// an answer or "not sent" is all there may be when the client can see the end before it writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn not_sent_is_never_a_lie() {
    let (server, proxy, redis) = proxied().await;
    let mut confirmed = 0;
    let mut unknown = 0;
    let mut not_sent = 0;
    for round in 0..200 {
        proxy.cut_all(if round % 2 == 0 {
            Cut::Finish
        } else {
            Cut::Reset
        });
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        match run(&redis, "INCR k", PATIENT).await {
            Ok(_) => confirmed += 1,
            Err(RedisError::NotSent(_)) => not_sent += 1,
            Err(RedisError::Unknown(_)) => unknown += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    let ran = count(&server, "k").await;
    assert!(
        confirmed <= ran && ran <= confirmed + unknown,
        "{confirmed} {ran} {unknown}"
    );
    assert_eq!(confirmed + unknown + not_sent, 200);
}

#[tokio::test]
async fn a_killed_server_is_not_sent_and_a_restarted_one_is_found() {
    let mut server = RedisServer::builder().durable().start();
    let redis = open(&server.url()).await;
    assert_eq!(int(&redis, "INCR k").await, 1);
    server.kill9();
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    for _ in 0..3 {
        let reply = run(&redis, "INCR k", PATIENT).await;
        assert!(is_not_sent(&reply), "{reply:?}");
        assert!(
            reply
                .expect_err("down")
                .to_string()
                .contains("connection refused")
        );
    }
    server.restart();
    assert_eq!(int(&redis, "INCR k").await, 2);
}

/// Nothing awaits between the kill and the call, so the client learns of the end while it sends.
#[tokio::test]
async fn a_server_killed_under_the_call_is_not_sent_or_unknown() {
    let mut server = RedisServer::builder().durable().start();
    let redis = open(&server.url()).await;
    for round in 1..=5 {
        run(&redis, "SET k 1", PATIENT).await.expect("running");
        server.kill9();
        let reply = run(&redis, "SET k 2", PATIENT).await;
        assert!(
            is_not_sent(&reply) || is_unknown(&reply),
            "{round}: {reply:?}"
        );
        server.restart();
        assert_eq!(
            run(&redis, "GET k", PATIENT).await,
            Ok(vec![support::text("1")])
        );
    }
}

#[tokio::test]
async fn the_server_dying_inside_a_script_is_unknown() {
    let mut server = RedisServer::start();
    let redis = open(&server.url()).await;
    let busy = redis.clone();
    let script: &[u8] = b"while true do end";
    let call = tokio::spawn(async move { busy.execute(&[b"EVAL", script, b"0"], PATIENT).await });
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    server.kill9();
    let reply = call.await.expect("joined");
    assert!(is_unknown(&reply), "{reply:?}");
    server.restart();
    assert_eq!(int(&redis, "INCR k").await, 1);
}

#[tokio::test]
async fn refused_while_down_through_the_proxy() {
    let (_server, proxy, redis) = proxied().await;
    proxy.refuse().await;
    proxy.cut_all(Cut::Reset);
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert!(is_not_sent(&run(&redis, "INCR k", PATIENT).await));
    proxy.admit().await;
    assert_eq!(int(&redis, "INCR k").await, 1);
}

#[tokio::test]
async fn all_callers_of_a_lost_connection_hear_it_and_share_the_next() {
    let (server, proxy, redis) = proxied().await;
    proxy.inject(Rule::nth(10, Fault::LoseReplyAndRest(Cut::Reset)).of(["INCR"]));
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let redis = redis.clone();
            tokio::spawn(async move { run(&redis, "INCR k", PATIENT).await })
        })
        .collect();
    let mut answered = 0;
    for call in calls {
        match call.await.expect("joined") {
            Ok(_) => answered += 1,
            reply => assert!(is_unknown(&reply) || is_not_sent(&reply), "{reply:?}"),
        }
    }
    let ran = count(&server, "k").await;
    assert!(
        answered >= 9 && ran >= answered,
        "{answered} answered, {ran} ran"
    );
    assert_eq!(int(&redis, "INCR k").await, ran + 1);
    assert_eq!(proxy.connections(), 2);
}

#[tokio::test]
async fn a_request_repeated_below_us_runs_twice_and_replies_stay_in_order() {
    let server = RedisServer::start();
    let proxy = FaultProxy::start(server.port()).await;
    let redis = open(&proxy.url()).await;
    proxy.inject(Rule::next(Fault::Repeat).of(["INCR"]));
    assert_eq!(int(&redis, "INCR k").await, 1);
    assert_eq!(int(&redis, "INCR k").await, 3);
    assert_eq!(proxy.fired(), 1);
}

/// What the queue's own tests do: the k-th script call, however the script is called.
#[tokio::test]
async fn the_reply_of_the_third_script_call_is_lost() {
    let (server, proxy, redis) = proxied().await;
    proxy.inject(Rule::nth(3, Fault::LoseReply(Cut::Reset)).of(["EVALSHA", "EVAL"]));
    let script: &[u8] = b"return redis.call('INCR', KEYS[1])";
    let sha = run(&redis, "EVALSHA nothing 0", PATIENT).await;
    assert!(
        matches!(sha, Err(RedisError::Server(_))),
        "the first: {sha:?}"
    );
    let eval: &[&[u8]] = &[b"EVAL", script, b"1", b"k"];
    assert_eq!(
        redis.execute(eval, PATIENT).await,
        Ok(vec![Value::Int(1)]),
        "the second"
    );
    assert_eq!(int(&redis, "EXISTS k").await, 1);
    assert!(is_unknown(&redis.execute(eval, PATIENT).await), "the third");
    assert_eq!(count(&server, "k").await, 2);
    assert_eq!(redis.execute(eval, PATIENT).await, Ok(vec![Value::Int(3)]));
    assert_eq!(
        (
            proxy.requests("EVAL"),
            proxy.requests("evalsha"),
            proxy.fired()
        ),
        (3, 1, 1)
    );
}

/// redis-rs ends the connection at a reply it cannot parse; a status or error line that is not
/// UTF-8 is one, and any script can answer one.
#[tokio::test]
async fn a_reply_that_does_not_parse_is_unknown() {
    let server = RedisServer::start();
    let redis = open(&server.url()).await;
    let script: &[u8] = b"redis.call('INCR', 'k') return redis.error_reply('ERR \\255secret')";
    let reply = redis.execute(&[b"EVAL", script, b"0"], PATIENT).await;
    assert!(is_unknown(&reply), "{reply:?}");
    assert!(!format!("{reply:?}").contains("secret"), "{reply:?}");
    assert_eq!(int(&redis, "INCR k").await, 2);
}
