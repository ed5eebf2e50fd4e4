//! Somebody removes an element with a plain command. What the queue promises for that message ends
//! with it; what describes it stays behind, and scripts meet it.

use crate::view::Part;
use crate::world::World;

pub(super) fn inject(world: &mut World, queue: u32, list: u32) {
    let (queue, part) = (
        queue as usize,
        [Part::Pending, Part::Processing][list as usize % 2],
    );
    if queue >= world.settings.queues as usize || world.covered.contains(&(queue, part)) {
        return;
    }
    world.administer(&[b"RPOP", part.key(queue).as_bytes()]);
    world.excuses[queue].evicted = true;
    world.forget_states();
    world.look_again();
}
