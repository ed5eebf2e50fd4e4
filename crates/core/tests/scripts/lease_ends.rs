//! When leases end, to the millisecond of the server's clock.

use leaseline_core::message::{RenewOutcome, Stats};
use leaseline_redis_model::Profile;

use crate::world::{Model, World, now};

/// Ten years.
const MAX_DELAY_MS: u64 = 315_360_000_000;

fn stats(world: &mut World) -> Stats {
    now(world.queue.stats()).unwrap()
}

#[test]
fn the_ends_of_running_leases_are_told_and_those_of_delays_are_not() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.visibility_timeout_ms = Some(60_000));
    let ends = |world: &mut World| {
        let stats = stats(world);
        (stats.next_lease_end_ms, stats.last_lease_end_ms)
    };
    assert_eq!(ends(&mut world), (None, None));
    // Delays before, between and after the leases.
    for delay_ms in [1_000, 45_000, 50_000, MAX_DELAY_MS] {
        world.publish_message("later", None, delay_ms).unwrap();
    }
    assert_eq!(ends(&mut world), (None, None), "only delays");
    for text in ["a", "b", "c"] {
        world.publish(text).unwrap();
        world.claim(1).unwrap();
        world.pass(10_000);
    }
    assert_eq!(ends(&mut world), (Some(30_000), Some(50_000)));
    world.pass(30_000);
    assert_eq!(
        ends(&mut world),
        (Some(10_000), Some(20_000)),
        "the first is over"
    );
    world.pass(20_000);
    assert_eq!(ends(&mut world), (None, None));
}

/// A renewal obeys the limit of its lease, and brings no deadline forward.
#[test]
fn a_renewal_ends_at_the_limit_of_its_lease() {
    let model = Model::new(Profile::Redis70);
    let mut world = World::new(&model, |config| config.visibility_timeout_ms = Some(1_000));
    world.publish("a").unwrap();
    world.claim(1).unwrap();
    let mut lease = world.claimed[0].lease.clone();
    let claimed_until = lease.deadline_ms.unwrap();
    let mut renew = |world: &mut World, not_after_ms| {
        lease.not_after_ms = not_after_ms;
        match now(world.queue.renew(core::slice::from_ref(&lease))).remove(0) {
            Ok(RenewOutcome::Renewed(deadline_ms)) => deadline_ms - claimed_until,
            other => panic!("{other:?}"),
        }
    };
    world.pass(400);
    assert_eq!(renew(&mut world, Some(claimed_until + 900)), 400);
    assert_eq!(
        renew(&mut world, Some(claimed_until + 100)),
        400,
        "brought forward"
    );
    world.pass(900);
    assert_eq!(renew(&mut world, Some(claimed_until + 900)), 900);
    assert_eq!(renew(&mut world, Some(claimed_until + 900)), 900);
    assert_eq!(stats(&mut world).next_lease_end_ms, Some(600));
    assert_eq!(renew(&mut world, None), 1_300);
}
