//! Leases, to the millisecond of the server's clock, and what comes back from them.

use std::collections::BTreeSet;

use leaseline_core::event::Operation;
use leaseline_core::message::{PublishOutcome, SettleOutcome, Settlement};
use leaseline_redis_model::Profile;

use crate::world::{Model, World, now};

fn payloads(world: &World) -> Vec<String> {
    let payloads = world.claimed.iter().map(|delivery| &delivery.payload);
    payloads
        .map(|payload| String::from_utf8(payload.clone().unwrap()).unwrap())
        .collect()
}

#[test]
fn a_lease_is_over_at_its_deadline_and_not_a_millisecond_earlier() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.visibility_timeout_ms = Some(700));
    world.publish_all(&["a", "b"]);
    let mut deadlines = Vec::new();
    for _ in 0..2 {
        let began = model.lock().time_us() / 1000;
        assert_eq!(world.claim(1), Ok(1));
        let deadline = world.claimed.last().unwrap().lease.deadline_ms;
        assert_eq!(deadline, Some(began + 700));
        deadlines.push(deadline);
        world.pass(10);
    }
    assert!(deadlines[0] < deadlines[1]);
    world.pass(679);
    assert_eq!(world.claim(2), Ok(0));
    world.pass(1);
    assert_eq!(
        world.claim(2),
        Ok(1),
        "the other one has ten milliseconds left"
    );
    assert_eq!(payloads(&world), ["a", "b", "a"]);
}

#[test]
fn any_number_of_expired_leases_comes_back_each_once() {
    for count in [105, 500, 750, 2_000] {
        let model = Model::new(Profile::Redis70);
        let mut world = World::new(&model, |_| ());
        for n in 0..count {
            world.publish(&n.to_string()).unwrap();
        }
        while world.claim(100).unwrap() > 0 {}
        world.expire();
        world.claimed.clear();
        while world.claim(100).unwrap() > 0 {
            // Those that are left have their lease still.
            assert_eq!(world.stuck(), [""; 0], "{count}");
        }
        let back = payloads(&world);
        assert_eq!(back.len(), count);
        assert_eq!(back.iter().collect::<BTreeSet<_>>().len(), count);
        for at in 0..count {
            assert_eq!(world.settle(at, Settlement::Ack), Ok(SettleOutcome::Done));
        }
        assert_eq!(world.keys(), ["q::processing:lease_token_counter"]);
    }
}

#[test]
fn a_deadline_without_its_message_tells_nothing_and_stops_no_other() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    world.publish_all(&["a", "gone", "b"]);
    world.claim(3).unwrap();
    let gone = world.claimed[1].lease.stored.clone();
    let removed = [b"LREM".as_slice(), b"q::processing", b"1", &gone];
    model.lock().execute(&removed);
    world.expire();
    world.queue.take_events();
    world.claimed.clear();
    assert_eq!(world.claim(3), Ok(2));
    let mut back = payloads(&world);
    back.sort_unstable();
    assert_eq!(back, ["a", "b"]);
    let told = world.queue.take_events().events.into_iter();
    let reclaims = told.filter(|event| event.operation == Operation::ClaimReclaim);
    assert_eq!(reclaims.count(), 2);
    for at in 0..2 {
        assert_eq!(world.settle(at, Settlement::Ack), Ok(SettleOutcome::Done));
    }
    assert_eq!(world.keys(), ["q::processing:lease_token_counter"]);
}

/// It is served before fresh messages each time, which holds them up and loses none.
#[test]
fn a_message_whose_lease_always_ends_holds_up_others_and_loses_none() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.max_delivery_count = None);
    world.publish_all(&["poison", "1", "2", "3"]);
    let mut done = Vec::new();
    world.claim(1).unwrap();
    for _ in 0..3 {
        for _ in 0..5 {
            world.expire();
            world.claimed.clear();
            assert_eq!(world.claim(1), Ok(1));
            assert_eq!(payloads(&world), ["poison"]);
        }
        assert_eq!(world.claim(1), Ok(1));
        done.push(payloads(&world).remove(1));
        assert_eq!(world.settle(1, Settlement::Ack), Ok(SettleOutcome::Done));
    }
    assert_eq!(done, ["1", "2", "3"]);
    assert_eq!(world.settle(0, Settlement::Ack), Ok(SettleOutcome::Done));
    assert_eq!(world.keys(), ["q::processing:lease_token_counter"]);
}

#[test]
fn a_lease_and_a_deduplication_key_end_apart() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.deduplication_ttl_ms = 1_000_000);
    world.publish_keyed("a", "k").unwrap();
    world.claim(1).unwrap();
    world.pass(300_000);
    assert_eq!(world.claim(1), Ok(1));
    let again = |world: &mut World| world.publish_keyed("again", "k");
    assert_eq!(
        again(&mut world),
        Ok(PublishOutcome::Duplicate),
        "a reclaim ends no window"
    );
    world.pass(700_001);
    assert_eq!(again(&mut world), Ok(PublishOutcome::Published));
    assert_eq!(now(world.queue.stats()).unwrap().pending, 1);
}
