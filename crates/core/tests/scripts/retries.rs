//! What is tried again, how often, and what may still happen when the time is over.

use std::collections::VecDeque;
use std::future::{Future, ready};
use std::sync::{Arc, Mutex};

use leaseline_core::capability::{Clock, PipelineReply, Redis, RedisError, Reply, ServerError};
use leaseline_core::config::OverloadPolicy;
use leaseline_core::message::{Outgoing, PublishOutcome};
use leaseline_core::{Config, Error, ErrorKind, Queue, Retry};
use leaseline_redis_model::Profile;

use crate::world::{Model, Still, World, now};

/// A model in front of which the next commands fail, without having been sent.
#[derive(Clone)]
struct Failing {
    inner: Model,
    failures: Arc<Mutex<VecDeque<RedisError>>>,
    /// Commands so far.
    asked: Arc<Mutex<usize>>,
    clock: Sleeping,
}

impl Redis for Failing {
    fn execute(&self, argv: &[&[u8]], timeout_ms: u32) -> impl Future<Output = Reply> + Send {
        *self.asked.lock().unwrap() += 1;
        let failure = self.failures.lock().unwrap().pop_front();
        let reply = match failure {
            Some(error) => Err(error),
            None => now(self.inner.execute(argv, timeout_ms)),
        };
        ready(reply)
    }

    fn pipeline(
        &self,
        commands: &[&[&[u8]]],
        timeout_ms: u32,
    ) -> impl Future<Output = PipelineReply> + Send {
        self.inner.pipeline(commands, timeout_ms)
    }
}

/// A clock that moves by its sleeps.
#[derive(Clone, Default)]
struct Sleeping(Arc<Mutex<u64>>);

impl Clock for Sleeping {
    fn now_ms(&self) -> u64 {
        *self.0.lock().unwrap()
    }

    fn sleep_ms(&self, ms: u64) -> impl Future<Output = ()> + Send {
        *self.0.lock().unwrap() += ms;
        ready(())
    }
}

type FailingQueue = Queue<Failing, Sleeping, Still>;

/// A queue whose next commands fail so, with the budget of the defaults.
fn failing(failures: impl IntoIterator<Item = RedisError>) -> (FailingQueue, Failing) {
    configured(failures, |_| ())
}

fn configured(
    failures: impl IntoIterator<Item = RedisError>,
    change: impl FnOnce(&mut Config),
) -> (FailingQueue, Failing) {
    let mut config = Config::new("q");
    change(&mut config);
    let redis = Failing {
        inner: Model::new(Profile::Redis70),
        failures: Arc::new(Mutex::new(failures.into_iter().collect())),
        asked: Arc::default(),
        clock: Sleeping::default(),
    };
    let (clock, entropy) = (redis.clock.clone(), Still::default());
    let queue = Queue::new(config, redis.clone(), clock, entropy).unwrap();
    (queue, redis)
}

fn publish(queue: &mut FailingQueue) -> Result<PublishOutcome, Error> {
    let message = Outgoing {
        payload: "a".into(),
        deduplication_key: Some("k".into()),
        ..Outgoing::default()
    };
    now(queue.publish(&[message])).remove(0).outcome
}

fn server(line: &str) -> RedisError {
    RedisError::Server(ServerError::from_line(line))
}

#[test]
fn failures_that_pass_are_tried_again_and_others_are_not() {
    for failure in [
        RedisError::NotSent("down".into()),
        RedisError::Unknown("cut".into()),
        RedisError::Timeout,
        server("LOADING Redis is loading the dataset in memory"),
        server("READONLY You can't write against a read only replica."),
        server("CLUSTERDOWN The cluster is down"),
        server("MASTERDOWN Link with MASTER is down"),
        server("TRYAGAIN Multiple keys request during rehashing of slot"),
        server("BUSY Redis is busy running a script."),
        server("ERR max number of clients reached"),
    ] {
        let (mut queue, redis) = failing(vec![failure.clone(); 3]);
        assert_eq!(
            publish(&mut queue),
            Ok(PublishOutcome::Published),
            "{failure:?}"
        );
        assert!(redis.failures.lock().unwrap().is_empty(), "{failure:?}");
    }
    for (failure, kind) in [
        (
            server("WRONGPASS invalid username-password pair"),
            ErrorKind::Server,
        ),
        (server("NOAUTH Authentication required."), ErrorKind::Server),
        (
            server("NOPERM this user has no permissions"),
            ErrorKind::Server,
        ),
        (
            server("WRONGTYPE Operation against a key"),
            ErrorKind::Server,
        ),
        (server("OOM command not allowed"), ErrorKind::Server),
        (server("MOVED 3999 127.0.0.1:6381"), ErrorKind::Server),
        (server("ASK 3999 127.0.0.1:6381"), ErrorKind::Server),
        (
            server("CROSSSLOT Keys in request don't hash to the same slot"),
            ErrorKind::Server,
        ),
        (server("EXECABORT Transaction discarded"), ErrorKind::Server),
        (server("ERR anything else"), ErrorKind::Server),
        (RedisError::Denied("by the host".into()), ErrorKind::Denied),
        (
            RedisError::UnsupportedReply("a map".into()),
            ErrorKind::Protocol,
        ),
    ] {
        let (mut queue, redis) = failing([failure.clone()]);
        assert_eq!(publish(&mut queue).unwrap_err().kind, kind, "{failure:?}");
        assert_eq!(*redis.asked.lock().unwrap(), 1, "{failure:?}");
    }
}

#[test]
fn a_call_ends_when_its_budget_is_spent_and_says_how_often_it_was_tried() {
    let (mut queue, redis) = failing(vec![RedisError::Timeout; 1_000]);
    let error = publish(&mut queue).unwrap_err();
    assert_eq!(
        (error.kind, error.retry),
        (ErrorKind::OutcomeUnknown, Retry::Unknown)
    );
    let asked = *redis.asked.lock().unwrap();
    assert!(
        error.message.contains(&format!("in {asked} attempts")),
        "{error}"
    );
    // Nine pauses up to the longest, then one each five seconds until the two minutes are over.
    assert!((30..=36).contains(&asked), "{asked}");

    let (mut queue, redis) = failing(vec![RedisError::NotSent("down".into()); 1_000]);
    let error = publish(&mut queue).unwrap_err();
    assert_eq!(
        (error.kind, error.retry),
        (ErrorKind::Unavailable, Retry::Yes)
    );
    assert!(*redis.asked.lock().unwrap() > 10);
}

/// Once the time is over a failed claim answers what an attempt has taken, and takes nothing new.
#[test]
fn a_claim_takes_nothing_new_after_its_time() {
    let lost = RedisError::Unknown("it never arrived".into());
    let (mut queue, redis) = failing([]);
    publish(&mut queue).unwrap();
    // The wait of a second has three attempts, of which none arrives; the recovery does.
    redis.failures.lock().unwrap().extend(vec![lost.clone(); 3]);
    let error = now(queue.claim(1, 1_000)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown);
    assert!(redis.failures.lock().unwrap().is_empty());
    assert_eq!(
        now(queue.stats()).unwrap().pending,
        1,
        "nobody would hold it"
    );
    // With no more failures the same wait gets it.
    redis.failures.lock().unwrap().push_back(lost);
    assert_eq!(now(queue.claim(1, 1_000)).unwrap().len(), 1);
}

#[test]
fn failures_do_not_lengthen_the_wait_for_room() {
    let (mut queue, redis) = configured([], |config| {
        config.max_pending_length = Some(1);
        config.overload_policy = OverloadPolicy::Block;
        config.overload_block_timeout_ms = 2_000;
    });
    publish(&mut queue).unwrap();
    let failures = vec![RedisError::NotSent("down".into()); 5];
    redis.failures.lock().unwrap().extend(failures);
    let message = Outgoing {
        payload: "b".into(),
        ..Outgoing::default()
    };
    let reply = now(queue.publish(&[message])).remove(0);
    assert_eq!(reply.outcome.unwrap_err().kind, ErrorKind::Backpressure);
    assert!(redis.failures.lock().unwrap().is_empty());
    assert_eq!(redis.clock.now_ms(), 2_000);
}

/// What an attempt that may have run took is not denied because the last one certainly did not run.
#[test]
fn a_claim_of_which_one_attempt_may_have_run_is_in_doubt() {
    let down = || RedisError::NotSent("down".into());
    for (failures, kind, says) in [
        (
            [RedisError::Timeout, down()],
            ErrorKind::OutcomeUnknown,
            "what it took",
        ),
        (
            [RedisError::Unknown("cut".into()), down()],
            ErrorKind::OutcomeUnknown,
            "what it took",
        ),
        (
            [down(), RedisError::Timeout],
            ErrorKind::OutcomeUnknown,
            "what it took",
        ),
        (
            [down(), down()],
            ErrorKind::Unavailable,
            "none of them took anything",
        ),
    ] {
        let (mut queue, _) = failing(failures.clone());
        let error = now(queue.claim(1, 0)).unwrap_err();
        assert_eq!(error.kind, kind, "{failures:?}");
        assert!(error.message.contains(says), "{failures:?}: {error}");
    }
    // The same for one that waits.
    let failures = [RedisError::Timeout]
        .into_iter()
        .chain(std::iter::repeat_n(down(), 99));
    let (mut queue, _) = failing(failures);
    let error = now(queue.claim(1, 1_000)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown, "{error}");
}

#[test]
fn a_refused_claim_keeps_its_id() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    world.publish_all(&["a"]);
    model.lock().deny_command("ZADD");
    world.claim(1).unwrap_err();
    let open = world.queue.take_pending_claims();
    assert_eq!(open.len(), 1);
    model.lock().allow_all();
    world.queue.adopt_claims(open);
    assert_eq!(world.claim(1), Ok(1));
    assert_eq!(world.queue.take_pending_claims(), [""; 0]);
}

/// A retry after the longest pause still finds what its first attempt answered.
#[test]
fn a_marker_outlives_the_longest_pause() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| {
        config.retry_budget_ms = 0;
        config.retry_max_delay_ms = 200_000;
        config.command_timeout_ms = 60_000;
    });
    model.lose_next_reply();
    let error = world.publish("a").unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown);
    let keys = world.keys();
    let markers: Vec<_> = keys.iter().filter(|key| *key != "q::pending").collect();
    let [marker] = markers[..] else {
        panic!("{keys:?}");
    };
    let left = model.lock().execute(&[b"PTTL", marker.as_bytes()]);
    let leaseline_redis_model::Reply::Integer(left) = left else {
        panic!("{left:?}");
    };
    assert!(left >= 200_000 + 2 * 60_000, "{left} ms");
}
