//! Any one call of a script fails, or one command is forbidden from now on: no message may be
//! stuck, lost or in two places, and everything comes out once it is healed.

use leaseline_core::config::{Log, OverloadPolicy};
use leaseline_core::message::{
    List, PublishOutcome, ReleaseOutcome, RenewOutcome, SettleOutcome, Settlement,
};
use leaseline_core::{Config, Error};
use leaseline_redis_model::{Condition, Profile};

use crate::world::{Model, World, now};

/// One operation from a prepared state.
struct Scenario {
    name: &'static str,
    configure: fn(&mut Config),
    /// Brings the queue into the state that the operation starts from.
    prepare: fn(&mut World),
    /// The operation under fault. Gives the messages that must be in the queue afterwards.
    act: fn(&mut World) -> Vec<&'static str>,
}

/// `message` counts unless its publish was refused.
fn unless_refused(
    outcome: Result<PublishOutcome, Error>,
    message: &'static str,
) -> Vec<&'static str> {
    outcome.map_or_else(|_| vec![], |_| vec![message])
}

/// `message` counts unless it was settled.
fn unless_settled(
    outcome: Result<SettleOutcome, Error>,
    message: &'static str,
) -> Vec<&'static str> {
    match outcome {
        Ok(SettleOutcome::Done) => vec![],
        Ok(SettleOutcome::Stale) => panic!("{message}: the holder was refused"),
        Err(_) => vec![message],
    }
}

fn with_logs(config: &mut Config) {
    (config.completed, config.failed) = (Log::Capped(5), Log::Unbounded);
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "plain publish",
        configure: |_| (),
        prepare: |_| (),
        act: |world| unless_refused(world.publish("a"), "a"),
    },
    Scenario {
        name: "deduplicated publish",
        configure: |_| (),
        prepare: |_| (),
        act: |world| unless_refused(world.publish_keyed("a", "k"), "a"),
    },
    Scenario {
        name: "delayed publish",
        configure: |_| (),
        prepare: |_| (),
        act: |world| unless_refused(world.publish_message("a", None, 1_000), "a"),
    },
    Scenario {
        name: "deduplicated delayed publish",
        configure: |_| (),
        prepare: |_| (),
        act: |world| unless_refused(world.publish_message("a", Some("k"), 1_000), "a"),
    },
    Scenario {
        name: "claim of a delayed publish",
        configure: |_| (),
        prepare: |world| {
            world.publish_message("a", None, 1_000).unwrap();
            world.publish("b").unwrap();
            world.expire();
        },
        act: |world| {
            let _ = world.claim(1);
            vec!["a", "b"]
        },
    },
    Scenario {
        name: "publish that drops the oldest",
        configure: |config| {
            config.max_pending_length = Some(1);
            config.overload_policy = OverloadPolicy::DropOldest;
            config.max_delivery_count = None;
        },
        prepare: |world| world.publish_all(&["old"]),
        act: |world| match world.publish("new") {
            Ok(_) => vec!["new"],
            Err(_) => vec!["old"],
        },
    },
    Scenario {
        name: "fresh claim of two",
        configure: |_| (),
        prepare: |world| world.publish_all(&["a", "b"]),
        act: |world| {
            let _ = world.claim(2);
            vec!["a", "b"]
        },
    },
    Scenario {
        name: "claim that reclaims",
        configure: |_| (),
        prepare: |world| {
            world.publish_all(&["a", "b", "c"]);
            world.claim(2).unwrap();
            world.expire();
        },
        act: |world| {
            let _ = world.claim(1);
            vec!["a", "b", "c"]
        },
    },
    Scenario {
        name: "claim that dead-letters",
        configure: |config| config.max_delivery_count = Some(1),
        prepare: |world| {
            world.publish_all(&["poison", "good"]);
            world.claim(1).unwrap();
            world.expire();
        },
        act: |world| {
            let _ = world.claim(1);
            vec!["poison", "good"]
        },
    },
    Scenario {
        name: "claim that meets equal elements",
        configure: |_| (),
        prepare: |world| {
            world
                .model
                .lock()
                .execute(&[b"LPUSH", b"q::pending", b"tick", b"tick"]);
            world.claim(1).unwrap();
        },
        act: |world| {
            let _ = world.claim(1);
            vec!["tick", "tick"]
        },
    },
    Scenario {
        name: "claim that meets everything at once",
        configure: |config| config.max_delivery_count = Some(1),
        prepare: |world| {
            world.publish_all(&["poison", "worse", "gone"]);
            world.claim(3).unwrap();
            world.model.lock().execute(&[b"LPOP", b"q::processing"]);
            world.expire();
            world
                .model
                .lock()
                .execute(&[b"LPUSH", b"q::pending", b"tick", b"tick", b"tick"]);
            world.publish_all(&["a", "b"]);
        },
        act: |world| {
            let _ = world.claim(10);
            vec!["poison", "worse", "tick", "tick", "tick", "a", "b"]
        },
    },
    Scenario {
        name: "claim over metadata without a message",
        configure: |_| (),
        prepare: |world| {
            world.publish("a").unwrap();
            world.claim(1).unwrap();
            world.model.lock().execute(&[b"DEL", b"q::processing"]);
            world.expire();
            world.publish("b").unwrap();
        },
        act: |world| {
            let _ = world.claim(1);
            vec!["b"]
        },
    },
    Scenario {
        name: "replayed claim",
        configure: |_| (),
        prepare: |world| {
            world.publish_all(&["a", "b"]);
            world.claim(1).unwrap();
            let id = world
                .keys()
                .into_iter()
                .find(|key| key.contains("claim_result:"))
                .unwrap();
            let id = id.rsplit(':').next().unwrap().to_string();
            world.claimed.clear();
            world.queue.adopt_claims(vec![id]);
        },
        act: |world| {
            let _ = world.claim(1);
            vec!["a", "b"]
        },
    },
    Scenario {
        name: "ack",
        configure: |_| (),
        prepare: |world| {
            world.publish("a").unwrap();
            world.claim(1).unwrap();
        },
        act: |world| unless_settled(world.settle(0, Settlement::Ack), "a"),
    },
    Scenario {
        name: "ack into the log",
        configure: with_logs,
        prepare: |world| {
            world.publish("a").unwrap();
            world.claim(1).unwrap();
        },
        act: |world| {
            let outcome = world.settle(0, Settlement::Ack);
            let logged = world.list("completed").len();
            assert_eq!(
                logged,
                usize::from(outcome.is_ok()),
                "in the log exactly if it is settled"
            );
            unless_settled(outcome, "a")
        },
    },
    Scenario {
        name: "fail into the log",
        configure: with_logs,
        prepare: |world| {
            world.publish("a").unwrap();
            world.claim(1).unwrap();
        },
        act: |world| {
            let outcome = world.settle(0, Settlement::Fail);
            assert_eq!(world.list("failed").len(), usize::from(outcome.is_ok()));
            unless_settled(outcome, "a")
        },
    },
    Scenario {
        name: "renew",
        configure: |_| (),
        prepare: |world| {
            world.publish("a").unwrap();
            world.claim(1).unwrap();
        },
        act: |world| {
            let renewed = now(world.queue.renew(&[world.claimed[0].lease.clone()])).remove(0);
            assert!(!matches!(renewed, Ok(RenewOutcome::Stale)));
            vec!["a"]
        },
    },
    Scenario {
        name: "release",
        configure: |_| (),
        prepare: |world| {
            world.publish("a").unwrap();
            world.claim(1).unwrap();
        },
        act: |world| {
            let lease = world.claimed[0].lease.clone();
            let deadline = lease.deadline_ms.unwrap();
            match world.release(0, 1_000_000) {
                Ok(ReleaseOutcome::Released(due)) => assert!(due > deadline),
                Ok(ReleaseOutcome::Stale) => panic!("the holder was refused"),
                // It still has its lease, or is fenced: it never keeps a token for a message that
                // is due at another time.
                Err(_) => {
                    if world.token_of("a") == lease.token {
                        assert_eq!(world.deadline_of("a"), lease.deadline_ms);
                    }
                }
            }
            vec!["a"]
        },
    },
    Scenario {
        name: "claim over a released message",
        configure: |_| (),
        prepare: |world| {
            world.publish_all(&["a", "b"]);
            world.claim(1).unwrap();
            world.release(0, 1_000).unwrap();
            world.expire();
        },
        act: |world| {
            let _ = world.claim(1);
            vec!["a", "b"]
        },
    },
    Scenario {
        name: "stats",
        configure: |_| (),
        prepare: |world| world.publish_all(&["a"]),
        act: |world| {
            if let Ok(stats) = now(world.queue.stats()) {
                assert_eq!(stats.pending, 1);
            }
            vec!["a"]
        },
    },
    Scenario {
        name: "redrive",
        configure: |_| (),
        prepare: |world| {
            world
                .model
                .lock()
                .execute(&[b"LPUSH", b"q::dlq", b"a", b"b", b"c"]);
        },
        act: |world| {
            let _ = now(world.queue.redrive(10));
            vec!["a", "b", "c"]
        },
    },
    Scenario {
        name: "purge",
        configure: |_| (),
        prepare: |world| world.publish_all(&["a", "b"]),
        act: |world| match now(world.queue.purge(List::Pending)) {
            Ok(removed) => {
                assert_eq!(removed, 2);
                vec![]
            }
            Err(_) => vec!["a", "b"],
        },
    },
    Scenario {
        name: "drain",
        configure: |_| (),
        prepare: |world| world.publish_all(&["a"]),
        act: |world| {
            let _ = now(world.queue.drain(0));
            vec!["a"]
        },
    },
];

/// The messages in the queue, wherever they are.
fn present(world: &World) -> Vec<String> {
    let mut messages: Vec<String> = ["pending", "processing", "dlq"]
        .iter()
        .flat_map(|word| world.list(word))
        .collect();
    messages.sort_unstable();
    messages
}

fn check(scenario: &Scenario, world: &World, mut expected: Vec<&str>, fault: &str) {
    expected.sort_unstable();
    assert_eq!(
        present(world),
        expected,
        "{}: {fault}: every message in one place",
        scenario.name
    );
    assert_eq!(
        world.stuck(),
        [""; 0],
        "{}: {fault}: in processing without a lease",
        scenario.name
    );
}

/// Heals the server and takes everything out: each message once, and nothing may stay behind.
fn take_out(scenario: &Scenario, model: &Model, mut expected: Vec<&str>, fault: &str) {
    let mut world = World::new(model, |config| config.max_delivery_count = None);
    let mut out = world.list("dlq");
    for _ in 0..3 {
        world.expire();
        while world.claim(100).unwrap() > 0 {
            while !world.claimed.is_empty() {
                let outcome = world.settle(0, Settlement::Ack).unwrap();
                assert_eq!(outcome, SettleOutcome::Done, "{}: {fault}", scenario.name);
                out.push(String::from_utf8(world.claimed.remove(0).payload.unwrap()).unwrap());
            }
        }
    }
    out.sort_unstable();
    expected.sort_unstable();
    assert_eq!(out, expected, "{}: {fault}: comes out once", scenario.name);
    assert!(now(world.queue.drain(0)).unwrap());
    let left: Vec<String> = world
        .keys()
        .into_iter()
        // What expires by itself, and logs.
        .filter(|key| !key.contains("operation_result:") && !key.contains(":deduplication:"))
        .filter(|key| !key.contains(":claim_result:") && key != "q::processing:delays")
        .filter(|key| !["q::dlq", "q::completed", "q::failed"].contains(&key.as_str()))
        .collect();
    // A call that fails after the message is settled may leave metadata, which the next claims
    // remove; a failed removal of a claim record may leave its fields, which name no message.
    let harmless = [
        "q::processing:claim_result_ids",
        "q::processing:claim_result_refs",
        "q::processing:claim_result_backrefs",
        "q::processing:delivery_counts",
        "q::processing:lease_token_counter",
    ];
    for key in left {
        assert!(
            harmless.contains(&key.as_str()),
            "{}: {fault}: {key} stays behind",
            scenario.name
        );
    }
}

fn profiles() -> [Profile; 2] {
    [Profile::Redis70, Profile::Redis72]
}

#[test]
fn any_one_failing_call_leaves_every_message_in_one_place() {
    for profile in profiles() {
        for scenario in SCENARIOS {
            let mut failures = 0;
            for call in 1.. {
                let model = Model::new(profile);
                let mut world = World::new(&model, scenario.configure);
                (scenario.prepare)(&mut world);
                model.lock().fail_script_call(call, "ERR injected");
                let expected = (scenario.act)(&mut world);
                if model.lock().script_calls() < call {
                    break;
                }
                failures += 1;
                let fault = format!("call {call} fails");
                check(scenario, &world, expected.clone(), &fault);
                take_out(scenario, &model, expected, &fault);
            }
            assert!(failures >= 4, "{}: only {failures} calls", scenario.name);
        }
    }
}

#[test]
fn a_forbidden_command_leaves_every_message_in_one_place() {
    let commands = [
        "ZADD",
        "ZREM",
        "ZRANGEBYSCORE",
        "ZSCORE",
        "ZRANGE",
        "ZREMRANGEBYSCORE",
        "PEXPIREAT",
        "ZCOUNT",
        "HSET",
        "HGET",
        "HMGET",
        "HDEL",
        "HINCRBY",
        "HEXISTS",
        "SET",
        "GET",
        "DEL",
        "EXISTS",
        "INCR",
        "INCRBY",
        "LPUSH",
        "RPUSH",
        "LPOP",
        "RPOP",
        "LREM",
        "LMOVE",
        "LINDEX",
        "LPOS",
        "LLEN",
        "LRANGE",
        "LTRIM",
        "TIME",
        "TYPE",
    ];
    for scenario in SCENARIOS {
        for command in commands {
            let model = Model::new(Profile::Redis70);
            let mut world = World::new(&model, scenario.configure);
            (scenario.prepare)(&mut world);
            model.lock().deny_command(command);
            let expected = (scenario.act)(&mut world);
            let fault = format!("{command} is forbidden");
            check(scenario, &world, expected.clone(), &fault);
            model.lock().allow_all();
            take_out(scenario, &model, expected, &fault);
        }
    }
}

#[test]
fn full_memory_changes_nothing_or_everything() {
    for scenario in SCENARIOS {
        let model = Model::new(Profile::Redis70);
        let mut world = World::new(&model, scenario.configure);
        (scenario.prepare)(&mut world);
        model.lock().impose(Condition::OutOfMemory);
        let expected = (scenario.act)(&mut world);
        check(scenario, &world, expected.clone(), "memory is full");
        model.lock().lift(Condition::OutOfMemory);
        take_out(scenario, &model, expected, "memory is full");
    }
}

/// Settling without a log frees memory, so it must work when memory is full.
#[test]
fn an_ack_works_when_memory_is_full() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    world.publish("a").unwrap();
    world.claim(1).unwrap();
    model.lock().impose(Condition::OutOfMemory);
    assert_eq!(world.settle(0, Settlement::Ack), Ok(SettleOutcome::Done));
    assert_eq!(world.keys(), ["q::processing:lease_token_counter"]);
}

/// The original leaves a message without lease in both cases, for good.
#[test]
fn a_refused_dead_letter_stays_claimable() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.max_delivery_count = Some(1));
    world.publish("poison").unwrap();
    world.claim(1).unwrap();
    world.expire();
    model.lock().deny_command("LPUSH");
    for _ in 0..3 {
        let error = world.claim(1).unwrap_err();
        assert!(error.message.contains("can't run this command"), "{error}");
        assert_eq!(world.list("pending"), ["poison"]);
    }
    model.lock().allow_all();
    assert_eq!(world.claim(1), Ok(0));
    assert_eq!(world.list("dlq"), ["poison"]);
}

/// A grant that fails and cannot be taken back leaves no count behind, and no stuck message.
#[test]
fn a_failed_grant_leaves_no_count() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    world.publish("a").unwrap();
    model.lock().deny_command("ZADD");
    world.claim(1).unwrap_err();
    model.lock().allow_all();
    assert_eq!(
        world.keys(),
        ["q::pending", "q::processing:lease_token_counter"]
    );
}
