//! A key is gone, as with a `maxmemory-policy` that the documentation forbids. What the queue
//! promises ends with it; what a single script promises does not.

use crate::view::Part;
use crate::world::World;

pub(super) fn inject(world: &mut World, queue: u32, key: u32) {
    let (queue, part) = (queue as usize, Part::ALL[key as usize % Part::ALL.len()]);
    if queue >= world.settings.queues as usize || world.covered.contains(&(queue, part)) {
        return;
    }
    world.administer(&[b"DEL", part.key(queue).as_bytes()]);
    world.excuses[queue].evicted = true;
    world.look_again();
}
