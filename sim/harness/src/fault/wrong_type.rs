//! A key of a queue is of another type for a while: somebody's program uses the name. What was
//! there comes back, so that nothing is lost and every refusal must have changed nothing.

use crate::view::Part;
use crate::world::{Event, World};

pub(super) fn inject(world: &mut World, queue: u32, key: u32, ms: u64) {
    let (queue, part) = (queue as usize, Part::ALL[key as usize % Part::ALL.len()]);
    if queue >= world.settings.queues as usize || world.covered.contains(&(queue, part)) {
        return;
    }
    let key = part.key(queue);
    world.administer(&[b"RENAME", key.as_bytes(), hidden(&key).as_bytes()]);
    // A set is what none of a queue's keys is.
    world.administer(&[b"SADD", key.as_bytes(), b"foreign"]);
    world.covered.push((queue, part));
    world.forget_states();
    world.server.model.take_written();
    world
        .agenda
        .add(world.now_us + ms * 1000, Event::Uncover { queue, part });
}

/// What was there comes back.
pub(crate) fn uncover(world: &mut World, queue: usize, part: Part) {
    if !world.covered.contains(&(queue, part)) {
        return;
    }
    world.covered.retain(|covered| *covered != (queue, part));
    let key = part.key(queue);
    world.administer(&[b"DEL", key.as_bytes()]);
    world.administer(&[b"RENAME", hidden(&key).as_bytes(), key.as_bytes()]);
    world.look_again();
}

fn hidden(key: &str) -> String {
    format!("hidden:{key}")
}
