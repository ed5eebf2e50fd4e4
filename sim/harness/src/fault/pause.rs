//! A worker stands still: its process is stopped, or collects garbage. Replies and timers wait.

use crate::world::World;

pub(super) fn pause(world: &mut World, client: u32) {
    world.client(client).paused = true;
}

pub(super) fn resume(world: &mut World, client: u32) {
    let at = client as usize % world.clients.len();
    if std::mem::take(&mut world.clients[at].paused) {
        world.ready.push(at);
    }
}
