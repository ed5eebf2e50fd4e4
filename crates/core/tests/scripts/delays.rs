//! Messages that were released or published with a delay, to the millisecond of the server's clock.

use leaseline_core::ErrorKind;
use leaseline_core::message::{
    PublishOutcome, ReleaseOutcome, ReleaseRequest, SettleOutcome, Settlement, Stats,
};
use leaseline_redis_model::Profile;

use crate::world::{Model, World, now};

/// One message, released for this long. Gives when it is due.
fn released(world: &mut World, delay_ms: u64) -> u64 {
    world.publish("a").unwrap();
    world.claim(1).unwrap();
    match world.release(0, delay_ms) {
        Ok(ReleaseOutcome::Released(due)) => due,
        other => panic!("{other:?}"),
    }
}

fn stats(world: &mut World) -> Stats {
    now(world.queue.stats()).unwrap()
}

#[test]
fn it_is_claimed_when_it_is_due_and_not_a_millisecond_earlier() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    let began = model.lock().time_us() / 1000;
    assert_eq!(released(&mut world, 500), began + 500);

    world.pass(499);
    assert_eq!(world.claim(1), Ok(0));
    assert_eq!(
        stats(&mut world),
        Stats {
            delayed: 1,
            ..Stats::default()
        }
    );
    world.pass(1);
    assert_eq!(
        stats(&mut world),
        Stats {
            processing: 1,
            overdue: 1,
            oldest_overdue_ms: Some(0),
            ..Stats::default()
        }
    );
    assert_eq!(world.claim(1), Ok(1));
    assert_eq!(world.claimed[1].delivery_count, 2);
    assert_eq!(
        stats(&mut world),
        Stats {
            processing: 1,
            next_lease_end_ms: Some(300_000),
            last_lease_end_ms: Some(300_000),
            ..Stats::default()
        }
    );
}

#[test]
fn a_message_for_later_is_claimed_when_it_is_due_and_not_a_millisecond_earlier() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.max_pending_length = Some(1));
    world.publish("now").unwrap();
    // The limit is one of pending messages.
    world.publish_message("later", None, 500).unwrap();
    world.pass(499);
    assert_eq!(world.claim(2), Ok(1));
    assert_eq!(stats(&mut world).delayed, 1);
    world.pass(1);
    assert_eq!(world.claim(2), Ok(1));
    assert_eq!(world.claimed[1].payload.as_deref(), Ok(&b"later"[..]));
    assert_eq!(world.claimed[1].delivery_count, 1);
    for at in [0, 1] {
        assert_eq!(world.settle(at, Settlement::Ack), Ok(SettleOutcome::Done));
    }
    world.pass(1);
    assert_eq!(world.keys(), ["q::processing:lease_token_counter"]);
}

/// A duplicate is one whether its original waits or not, and takes no second delay.
#[test]
fn a_message_for_later_is_deduplicated_from_its_publish_on() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.deduplication_ttl_ms = 1_000);
    use PublishOutcome::{Duplicate, Published};
    assert_eq!(world.publish_message("a", Some("k"), 60_000), Ok(Published));
    assert_eq!(world.publish_message("a", Some("k"), 60_000), Ok(Duplicate));
    assert_eq!(world.publish_keyed("a", "k"), Ok(Duplicate));
    world.pass(1_001);
    assert_eq!(world.publish_keyed("a", "k"), Ok(Published));
    assert_eq!(world.publish_message("a", Some("k"), 1), Ok(Duplicate));
    assert_eq!(stats(&mut world).delayed, 1);
}

#[test]
fn a_publish_for_later_whose_reply_was_lost_is_made_once() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.retry_budget_ms = 1);
    for key in [None, Some("k")] {
        model.lose_next_reply();
        let outcome = world.publish_message("a", key, 700);
        assert_eq!(outcome, Ok(PublishOutcome::Published));
    }
    assert_eq!(stats(&mut world).delayed, 2);
}

/// A failed publish must not leave a key that refuses the publisher's next try.
#[test]
fn a_refused_publish_for_later_forgets_its_key() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    model.lock().deny_command("LPUSH");
    world.publish_message("a", Some("k"), 700).unwrap_err();
    assert_eq!(world.keys(), ["q::processing:lease_token_counter"]);
}

#[test]
fn without_a_delay_the_next_claim_gets_it() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    released(&mut world, 0);
    assert_eq!(world.claim(1), Ok(1));
    assert_eq!(world.settle(1, Settlement::Ack), Ok(SettleOutcome::Done));
    assert_eq!(world.keys(), ["q::processing:lease_token_counter"]);
}

/// What a release writes goes with the message, or by itself: also when nobody releases again.
#[test]
fn nothing_stays_behind() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    world.publish_all(&["a", "b"]);
    world.claim(2).unwrap();
    world.release(0, 60_000).unwrap();
    world.release(1, 1_000).unwrap();
    world.pass(1_001);
    assert_eq!(world.claim(2), Ok(1));
    // The later of the two still counts.
    assert_eq!(stats(&mut world).delayed, 1);
    world.pass(60_000);
    assert_eq!(world.claim(2), Ok(1));
    for at in [2, 3] {
        assert_eq!(world.settle(at, Settlement::Ack), Ok(SettleOutcome::Done));
    }
    assert_eq!(world.keys(), ["q::processing:lease_token_counter"]);
}

#[test]
fn a_release_whose_reply_was_lost_is_made_once() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.retry_budget_ms = 1);
    world.publish("a").unwrap();
    world.claim(1).unwrap();
    model.lose_next_reply();
    let due = model.lock().time_us() / 1000 + 700;
    assert_eq!(world.release(0, 700), Ok(ReleaseOutcome::Released(due)));
    assert_eq!(world.token_of("a").as_deref(), Some("2"));
    // Another call is another operation, and its lease has ended.
    assert_eq!(world.release(0, 700), Ok(ReleaseOutcome::Stale));
}

#[test]
fn a_lost_release_that_left_no_marker_is_unknown() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.retry_budget_ms = 1);
    world.publish("a").unwrap();
    world.claim(1).unwrap();
    model.lock().deny_command("SET");
    model.lose_next_reply();
    let error = world.release(0, 700).unwrap_err();
    assert_eq!(error.kind, ErrorKind::OutcomeUnknown);
    world.pass(700);
    assert_eq!(stats(&mut world).overdue, 1);
}

#[test]
fn the_marker_of_a_lost_release_ends_with_the_lease_or_the_delay() {
    for (delay_ms, lasts_ms) in [(5_000, 20_000), (30_000, 30_000)] {
        let model = Model::new(Profile::Redis70);
        let mut world = World::new(&model, |config| config.visibility_timeout_ms = Some(20_000));
        world.publish("a").unwrap();
        world.claim(1).unwrap();
        model.lose_next_reply();
        let error = world.release(0, delay_ms).unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutcomeUnknown);
        let marker = |world: &World| {
            let keys = world.keys();
            keys.iter().any(|key| key.contains(":operation_result:"))
        };
        world.pass(lasts_ms - 1);
        assert!(marker(&world));
        world.pass(2);
        assert!(!marker(&world));
    }
}

/// A message that was removed by hand is not released, and what is left of it is cleaned up.
#[test]
fn a_message_that_is_gone_is_not_released() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    world.publish("a").unwrap();
    world.claim(1).unwrap();
    model.lock().execute(&[b"DEL", b"q::processing"]);
    let before = model.lock().dump();
    assert_eq!(world.release(0, 1_000), Ok(ReleaseOutcome::Stale));
    assert_eq!(model.lock().dump(), before);
}

/// The second of two equal elements has a deadline of 0, which is no time.
#[test]
fn the_age_of_the_oldest_overdue_lease_is_that_of_a_lease() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.visibility_timeout_ms = Some(1_000));
    let push: [&[u8]; 3] = [b"LPUSH", b"q::pending", b"a"];
    model.lock().execute(&push);
    world.claim(1).unwrap();
    world.publish("b").unwrap();
    world.claim(1).unwrap();
    let zero: [&[u8]; 4] = [b"ZADD", b"q::processing:lease_deadlines", b"0", b"a"];
    model.lock().execute(&zero);
    world.pass(1_700);
    let stats = stats(&mut world);
    assert_eq!((stats.overdue, stats.oldest_overdue_ms), (2, Some(700)));
}

#[test]
fn what_cannot_be_released_is_refused_before_anything_is_sent() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    world.publish("a").unwrap();
    world.claim(1).unwrap();
    let before = model.lock().dump();
    let lease = world.claimed[0].lease.clone();
    let mut without_token = lease.clone();
    without_token.token = None;
    let request = |lease: &leaseline_core::message::Lease, delay_ms| ReleaseRequest {
        lease: lease.clone(),
        delay_ms,
    };
    let refused = now(world.queue.release(&[
        request(&lease, 10 * 366 * 24 * 3_600_000 + 1),
        request(&without_token, 1),
    ]));
    let without_leases = |config: &mut leaseline_core::Config| {
        (config.visibility_timeout_ms, config.max_delivery_count) = (None, None);
    };
    let mut plain = World::new(&model, without_leases);
    let unleased = now(plain.queue.release(&[request(&lease, 1)]));
    let error = plain.publish_message("b", None, 1).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Configuration);
    let error = world.publish_message("b", None, u64::MAX).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidArgument);
    let kinds: Vec<ErrorKind> = refused
        .into_iter()
        .chain(unleased)
        .map(|outcome| outcome.unwrap_err().kind)
        .collect();
    use ErrorKind::{Configuration, InvalidArgument};
    assert_eq!(kinds, [InvalidArgument, InvalidArgument, Configuration]);
    assert_eq!(model.lock().dump(), before);
    assert_eq!(world.settle(0, Settlement::Ack), Ok(SettleOutcome::Done));
}
