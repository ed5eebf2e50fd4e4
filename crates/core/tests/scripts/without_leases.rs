//! The same without leases, where nothing would bring a message back.

use leaseline_core::Config;
use leaseline_core::config::Log;
use leaseline_core::message::{SettleOutcome, Settlement};
use leaseline_core::script;
use leaseline_redis_model::{Profile, Reply};

use crate::instead;
use crate::world::{Model, World, now};

fn without_leases(config: &mut Config) {
    (config.visibility_timeout_ms, config.max_delivery_count) = (None, None);
}

/// Runs `act` with each of its script's calls failing in turn.
fn each_call_fails(
    change: fn(&mut Config),
    prepare: fn(&mut World),
    act: impl Fn(&mut World, &str),
) {
    let mut failures = 0;
    for call in 1.. {
        let model = Model::new(Profile::Redis70);
        let mut world = World::new(&model, change);
        prepare(&mut world);
        model.lock().fail_script_call(call, "ERR injected");
        act(&mut world, &format!("call {call} fails"));
        if model.lock().script_calls() < call {
            break;
        }
        failures += 1;
    }
    assert!(failures >= 6, "only {failures} calls");
}

#[test]
fn a_claim_takes_its_message_or_leaves_it() {
    each_call_fails(
        without_leases,
        |world| world.publish_all(&["a"]),
        |world, fault| match world.claim(1) {
            Ok(1) => assert_eq!(world.list("processing"), ["a"], "{fault}"),
            other => {
                assert!(other.is_err(), "{fault}: {other:?}");
                assert_eq!(world.list("pending"), ["a"], "{fault}");
                assert_eq!(world.list("processing"), [""; 0], "{fault}");
            }
        },
    );
}

#[test]
fn a_settlement_ends_its_message_or_leaves_it() {
    let with_log = |config: &mut Config| {
        without_leases(config);
        config.failed = Log::Unbounded;
    };
    for (change, logged) in [(without_leases as fn(&mut Config), 0), (with_log, 1)] {
        each_call_fails(
            change,
            |world| {
                world.publish_all(&["a"]);
                world.claim(1).unwrap();
            },
            |world, fault| {
                let (held, in_log) = match world.settle(0, Settlement::Fail) {
                    Ok(SettleOutcome::Done) => (0, logged),
                    Ok(SettleOutcome::Stale) => panic!("{fault}: the holder was refused"),
                    Err(_) => (1, 0),
                };
                assert_eq!(world.list("processing").len(), held, "{fault}");
                assert_eq!(world.list("failed").len(), in_log, "{fault}");
            },
        );
    }
}

#[test]
fn a_claim_is_given_back_or_stays() {
    each_call_fails(
        without_leases,
        |world| {
            world.publish_all(&["a"]);
            world.claim(1).unwrap();
            let dump = world
                .model
                .lock()
                .execute(&[b"HKEYS", b"q::processing:claim_result_ids"]);
            let Reply::Array(ids) = dump else {
                panic!("{dump:?}")
            };
            let Some(Reply::Bulk(id)) = ids.first() else {
                panic!("no claim id")
            };
            // As after a lost reply: the result key is still there.
            let id = String::from_utf8(id.clone()).unwrap();
            world.queue.adopt_claims(vec![id]);
        },
        |world, fault| {
            let _ = now(world.queue.drain(0));
            let _ = now(world.queue.drain(1_000));
            let places = world.list("pending").len() + world.list("processing").len();
            assert_eq!(places, 1, "{fault}");
        },
    );
}

/// A request to give a claim back that was on its way for long must not take the message from
/// whoever claimed it since.
#[test]
fn a_late_return_takes_nothing_from_a_later_claim() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, without_leases);
    world.publish_all(&["a"]);
    let stored = match model.lock().execute(&[b"LINDEX", b"q::pending", b"0"]) {
        Reply::Bulk(stored) => stored,
        other => panic!("{other:?}"),
    };
    let give_back = |claim: &[u8], marker: &[u8]| {
        let mut scripts = script::ALL.iter();
        let script = scripts.find(|script| script.name == "return").unwrap();
        let source = instead::text(script);
        let argv: [&[u8]; 12] = [
            b"EVAL",
            source.as_bytes(),
            b"6",
            b"q::processing",
            b"q::pending",
            b"q::processing:claim_result_ids",
            b"q::processing:claim_result_backrefs",
            marker,
            b"result",
            &stored,
            claim,
            b"1000",
        ];
        model.lock().execute(&argv)
    };
    world.claim(1).unwrap();
    let ids = model
        .lock()
        .execute(&[b"HKEYS", b"q::processing:claim_result_ids"]);
    let Reply::Array(ids) = ids else {
        panic!("{ids:?}")
    };
    let Some(Reply::Bulk(first)) = ids.into_iter().next() else {
        panic!("no claim id")
    };
    assert_eq!(give_back(&first, b"m1"), Reply::Integer(1));
    world.claim(1).unwrap();
    assert_eq!(give_back(&first, b"m2"), Reply::Integer(0));
    assert_eq!(world.list("processing"), ["a"]);
}
