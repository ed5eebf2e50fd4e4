//! The server forgets all scripts (`SCRIPT FLUSH`, or a restart does it).

use crate::world::World;

pub(super) fn inject(world: &mut World) {
    world.administer(&[b"SCRIPT", b"FLUSH"]);
}
