//! The server forgets all scripts (`SCRIPT FLUSH`, or a restart does it).

use crate::world::World;

pub(super) fn inject(world: &mut World) {
    world.server.model.execute(&[b"SCRIPT", b"FLUSH"]);
}
