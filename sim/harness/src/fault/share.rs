//! Two workers under one name: another one has the same leases from now on, as a file that two
//! processes read, or a token that a handler passed on.

use crate::world::World;

pub(super) fn inject(world: &mut World, from: u32, to: u32) {
    let held = world.client(from).held.clone();
    let to = world.client(to);
    for (mine, shared) in to.held.iter_mut().zip(held) {
        for lease in shared {
            if !mine.contains(&lease) {
                mine.push(lease);
            }
        }
    }
}
