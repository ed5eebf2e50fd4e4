//! Publishing with a deduplication key, and against a full queue.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex};

use leaseline_core::capability::Clock;
use leaseline_core::config::OverloadPolicy;
use leaseline_core::message::{Outgoing, PublishOutcome};
use leaseline_core::{Config, ErrorKind, Queue};
use leaseline_redis_model::{Condition, Profile};

use crate::world::{Model, Still, World, now};

/// A clock that is where its last sleep ended, and remembers all of them.
#[derive(Clone, Default)]
struct Remembering(Arc<Mutex<Vec<u64>>>);

impl Clock for Remembering {
    fn now_ms(&self) -> u64 {
        self.0.lock().unwrap().iter().sum()
    }

    fn sleep_ms(&self, ms: u64) -> impl Future<Output = ()> + Send {
        self.0.lock().unwrap().push(ms);
        ready(())
    }
}

/// The pauses of a publish to a full queue that waits this long, and fails.
fn pauses(timeout_ms: u64) -> Vec<u64> {
    let mut config = Config::new("q");
    config.max_pending_length = Some(1);
    config.overload_policy = OverloadPolicy::Block;
    config.overload_block_timeout_ms = timeout_ms;
    let clock = Remembering::default();
    let model = Model::new(Profile::Redis70);
    let mut queue = Queue::new(config, model, clock.clone(), Still::default()).unwrap();
    let message = |payload: &str| Outgoing {
        payload: payload.into(),
        ..Outgoing::default()
    };
    let outcomes: Vec<_> = now(queue.publish(&[message("a"), message("b")]))
        .into_iter()
        .map(|reply| reply.outcome.map_err(|error| error.kind))
        .collect();
    let expected = [Ok(PublishOutcome::Published), Err(ErrorKind::Backpressure)];
    assert_eq!(outcomes, expected);
    clock.0.lock().unwrap().clone()
}

#[test]
fn a_publish_that_waits_looks_more_and_more_seldom() {
    for (timeout, longest) in [(20_000, 500), (1_000, 100), (300, 30)] {
        let pauses = pauses(timeout);
        assert_eq!(pauses.iter().sum::<u64>(), timeout, "never beyond the time");
        let mut base = 10;
        for (at, pause) in pauses[..pauses.len() - 1].iter().enumerate() {
            let around = base * 80 / 100..=base * 120 / 100;
            assert!(
                around.contains(pause),
                "{at} of {timeout}: {pause} is not about {base}"
            );
            base = (base * 2).min(longest);
        }
        assert_eq!(base, longest, "{timeout}");
    }
    assert_eq!(pauses(0), [0; 0], "a single try");
}

#[test]
fn a_key_is_forgotten_when_its_window_is_over() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.deduplication_ttl_ms = 2_000);
    use PublishOutcome::{Duplicate, Published};
    assert_eq!(world.publish_keyed("a", "k"), Ok(Published));
    world.pass(1_500);
    assert_eq!(world.publish_keyed("a", "k"), Ok(Duplicate));
    world.pass(499);
    assert_eq!(
        world.publish_keyed("a", "k"),
        Ok(Duplicate),
        "a duplicate begins no new window"
    );
    world.pass(2);
    assert_eq!(world.publish_keyed("a", "k"), Ok(Published));
    assert_eq!(world.list("pending"), ["a", "a"]);
}

#[test]
fn equal_payloads_are_different_messages() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    world.publish_all(&["a", "a"]);
    assert_eq!(world.keys(), ["q::pending"], "no key without deduplication");
    assert_eq!(world.claim(2), Ok(2));
    assert_ne!(world.claimed[0].lease.stored, world.claimed[1].lease.stored);
    assert_ne!(world.claimed[0].message_id, world.claimed[1].message_id);
}

/// A failed publish must not leave a key that refuses the publisher's next try.
#[test]
fn a_refused_publish_forgets_its_key() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    model.lock().deny_command("LPUSH");
    world.publish_keyed("a", "k").unwrap_err();
    assert_eq!(world.keys(), [""; 0]);
    model.lock().allow_all();
    model.lock().impose(Condition::OutOfMemory);
    world.publish_keyed("a", "k").unwrap_err();
    assert_eq!(world.keys(), [""; 0]);
    model.lock().lift(Condition::OutOfMemory);
    assert_eq!(world.publish_keyed("a", "k"), Ok(PublishOutcome::Published));
    assert_eq!(world.list("pending"), ["a"]);
}
