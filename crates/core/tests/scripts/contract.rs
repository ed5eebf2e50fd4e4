//! Rules that hold for every script, read off its header.

use leaseline_core::message::Settlement;
use leaseline_core::script::{self, Script};
use leaseline_redis_model::{Profile, Reply};

use crate::instead;
use crate::world::{Model, World};

/// A key of a header: its role and its type.
fn keys(script: &Script) -> Vec<(&'static str, &'static str)> {
    let lines = script
        .source
        .lines()
        .filter_map(|line| line.strip_prefix("-- KEYS["));
    lines
        .map(|line| {
            let (_, rest) = line.split_once(']').unwrap();
            let mut words = rest.split_whitespace();
            (words.next().unwrap(), words.next().unwrap())
        })
        .collect()
}

/// Arguments that make sense for each role.
fn arguments(script: &Script) -> Vec<&'static str> {
    let lines = script
        .source
        .lines()
        .filter_map(|line| line.strip_prefix("-- ARGV["));
    lines
        .map(|line| {
            let (_, rest) = line.split_once(']').unwrap();
            match rest.split_whitespace().next().unwrap() {
                "mode" => "claim",
                "overload_policy" => "raise",
                "stored" | "payload" | "claim_id" | "letter" => "x",
                _ => "1000",
            }
        })
        .collect()
}

#[test]
fn a_key_of_another_type_stops_every_script_before_it_writes() {
    let mut checked = 0;
    for script in script::ALL {
        let keys = keys(script);
        for (at, (role, kind)) in keys.iter().enumerate() {
            let model = Model::new(Profile::Redis70);
            let names: Vec<String> = keys.iter().map(|(role, _)| format!("key {role}")).collect();
            let other = if *kind == "string" { "LPUSH" } else { "SET" };
            model
                .lock()
                .execute(&[other.as_bytes(), names[at].as_bytes(), b"foreign"]);
            // There is something to claim, so that nothing is left unread.
            if *role != "pending" {
                model
                    .lock()
                    .execute(&[b"LPUSH", b"key pending", b"message"]);
            }
            let before = model.lock().dump();
            let count = names.len().to_string();
            let mut argv: Vec<&[u8]> =
                vec![b"EVAL", instead::text(script).as_bytes(), count.as_bytes()];
            argv.extend(names.iter().map(String::as_bytes));
            let arguments = arguments(script);
            argv.extend(arguments.iter().map(|argument| argument.as_bytes()));
            let reply = model.lock().execute(&argv);
            let expected = b"WRONGTYPE Operation against a key holding the wrong kind of value";
            assert!(
                matches!(&reply, Reply::Error(text) if text.starts_with(expected)),
                "{} {role}: {reply:?}",
                script.name
            );
            assert_eq!(model.lock().dump(), before, "{} {role}", script.name);
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked}");
}

#[test]
fn scripts_touch_declared_keys_only_but_for_the_documented_one() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    for text in ["a", "b"] {
        world.publish(text).unwrap();
        assert_eq!(model.lock().undeclared_keys().count(), 0);
    }
    world.claim(2).unwrap();
    assert_eq!(model.lock().undeclared_keys().count(), 0);
    world.settle(0, Settlement::Ack).unwrap();
    world.expire();
    world.claim(1).unwrap();
    let undeclared: Vec<String> = model
        .lock()
        .undeclared_keys()
        .map(|key| String::from_utf8_lossy(key).into_owned())
        .collect();
    assert!(
        undeclared.iter().all(|key| key.contains(":claim_result:")),
        "{undeclared:?}"
    );
}

#[test]
fn the_work_of_one_claim_is_bounded() {
    let calls = |expired: usize| {
        let model = Model::new(Profile::Redis70);
        let mut world = World::new(&model, |config| config.max_delivery_count = None);
        for n in 0..expired {
            world.publish(&n.to_string()).unwrap();
        }
        while world.claim(100).unwrap() > 0 {}
        world.expire();
        assert_eq!(world.claim(100), Ok(100));
        model.lock().script_calls()
    };
    // A hundred leases are reclaimed, and a hundred messages granted.
    let (at_the_limit, beyond) = (calls(100), calls(400));
    assert!(at_the_limit > 300, "{at_the_limit}");
    assert!(
        beyond <= at_the_limit + 10,
        "{beyond} calls for 400, {at_the_limit} for 100"
    );
}

#[test]
fn the_scripts_keep_the_rules_of_the_house() {
    for script in script::ALL {
        let code: String = instead::text(script)
            .lines()
            .map(|line| line.split("--").next().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n");
        for forbidden in [
            "error(",
            "math.random",
            "RANDOMKEY",
            "KEYS *",
            "SCAN",
            "encode_",
        ] {
            assert!(!code.contains(forbidden), "{}: {forbidden}", script.name);
        }
        let times = code.matches("'TIME'").count();
        assert!(
            times <= 1,
            "{}: server time is read {times} times",
            script.name
        );
    }
}
