//! Claims of many messages in one call.

use leaseline_redis_model::Profile;

use crate::world::{Model, World};

/// The fencing tokens of a claim of four, with the counter at `counter` before.
fn tokens(counter: &str) -> Vec<String> {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    let argv: [&[u8]; 3] = [
        b"SET",
        b"q::processing:lease_token_counter",
        counter.as_bytes(),
    ];
    model.lock().execute(&argv);
    world.publish_all(&["a", "b", "c", "d"]);
    assert_eq!(world.claim(4), Ok(4));
    let claimed = world.claimed.iter();
    claimed
        .map(|delivery| delivery.lease.token.clone().unwrap())
        .collect()
}

#[test]
fn tokens_of_a_batch_are_the_next_ones_of_the_counter() {
    for counter in [
        0,
        8,
        999_999_996,
        999_999_997,
        1_999_999_998,
        2_000_000_000,
        9_007_199_254_740_990,
        1_000_000_000_999_999_998,
        i64::MAX - 4,
    ] {
        let expected: Vec<String> = (1..=4).map(|k| (counter + k).to_string()).collect();
        assert_eq!(tokens(&counter.to_string()), expected);
    }
}

#[test]
fn a_counter_at_its_end_grants_nothing() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    let end = (i64::MAX - 3).to_string();
    let argv: [&[u8]; 3] = [b"SET", b"q::processing:lease_token_counter", end.as_bytes()];
    model.lock().execute(&argv);
    world.publish_all(&["a", "b", "c", "d"]);
    let error = world.claim(4).unwrap_err();
    assert!(error.message.contains("overflow"), "{error}");
    assert_eq!(world.list("pending").len(), 4);
    assert_eq!(world.list("processing"), [""; 0]);
}

/// Messages are claimed in the order in which they were published, whatever the size of the batch.
#[test]
fn a_batch_keeps_the_order() {
    for size in [1, 2, 3, 7, 100] {
        let model = Model::new(Profile::Redis70);
        let mut world = World::new(&model, |_| ());
        let payloads: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        for payload in &payloads {
            world.publish(payload).unwrap();
        }
        while world.claim(size).unwrap() > 0 {}
        let claimed: Vec<String> = world
            .claimed
            .iter()
            .map(|delivery| String::from_utf8(delivery.payload.clone().unwrap()).unwrap())
            .collect();
        assert_eq!(claimed, payloads);
        let newest_first: Vec<String> = payloads.into_iter().rev().collect();
        assert_eq!(world.list("processing"), newest_first);
    }
}

/// Foreign writers can leave equal elements: a batch takes one of them.
#[test]
fn a_batch_takes_equal_elements_one_at_a_time() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    model.lock().execute(&[
        b"RPUSH",
        b"q::pending",
        b"other",
        b"tick",
        b"tick",
        b"last",
        b"tick",
    ]);
    assert_eq!(world.claim(10), Ok(3));
    assert_eq!(world.list("processing"), ["other", "last", "tick"]);
    assert_eq!(world.list("pending"), ["tick", "tick"]);
}

/// A call that moved a hundred large messages would hold up everybody else on the server.
#[test]
fn a_claim_takes_about_a_mebibyte() {
    for leased in [true, false] {
        let model = Model::new(Profile::Redis70);
        let mut world = World::new(&model, |config| {
            if !leased {
                config.visibility_timeout_ms = None;
                config.max_delivery_count = None;
            }
        });
        let payload = |kib: usize| "x".repeat(kib * 1024);
        let sizes = [400, 400, 400, 3000, 1, 900, 900, 1, 1];
        let payloads = sizes.map(payload);
        world.publish_all(&payloads.each_ref().map(String::as_str));
        let mut taken = Vec::new();
        loop {
            let count = world.claim(100).unwrap();
            if count == 0 {
                break;
            }
            taken.push(count);
        }
        let order: Vec<_> = world
            .claimed
            .iter()
            .map(|delivery| delivery.payload.as_ref().unwrap().len() / 1024)
            .collect();
        assert_eq!(order, sizes);
        assert_eq!(taken.iter().sum::<usize>(), sizes.len());
        let mut rest = &sizes[..];
        for count in taken {
            let (call, after) = rest.split_at(count);
            assert!(count == 1 || call.iter().sum::<usize>() <= 1024, "{call:?}");
            rest = after;
        }
    }
}

/// The same for what a claim brings back.
#[test]
fn a_claim_reclaims_about_a_mebibyte() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |_| ());
    let payload = "x".repeat(400 * 1024);
    world.publish_all(&[payload.as_str(); 5]);
    while world.claim(5).unwrap() > 0 {}
    world.expire();
    assert!(world.claim(1).unwrap() == 1);
    assert_eq!(
        world.list("processing").len(),
        4,
        "two came back, and one was granted"
    );
    while world.claim(5).unwrap() > 0 {}
    assert_eq!(world.list("pending"), [""; 0]);
}
