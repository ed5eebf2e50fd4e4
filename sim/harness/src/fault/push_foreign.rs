//! A program that knows no envelopes pushes an element: it is its own payload.

use crate::view::Part;
use crate::world::World;

pub(super) fn inject(world: &mut World, queue: u32) {
    let queue = queue as usize;
    if queue >= world.settings.queues as usize || world.covered.contains(&(queue, Part::Pending)) {
        return;
    }
    let element = format!("foreign{}", world.names.payloads()).into_bytes();
    world.accept(queue, element.clone());
    world.administer(&[b"LPUSH", Part::Pending.key(queue).as_bytes(), &element]);
    world.forget_states();
    world.look_again();
}
