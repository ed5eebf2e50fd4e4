//! The server restarts from its disk, which lacks the last scripts; connections break.

use crate::world::World;

pub(super) fn inject(world: &mut World, lost: usize) {
    super::flush_scripts::inject(world);
    world.go_back(lost);
    world.reset_connections();
}
