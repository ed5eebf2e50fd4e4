//! The server's clock jumps. Clients measure time by their own, which does not.

use crate::world::World;

pub(super) fn forward(world: &mut World, ms: u64) {
    shift(world, ms as i64 * 1000);
}

pub(super) fn back(world: &mut World, ms: u64) {
    shift(world, -(ms as i64) * 1000);
}

pub(super) fn shift(world: &mut World, us: i64) {
    if us < 0 {
        world.back_us += us.unsigned_abs();
    }
    if us != 0 {
        world
            .excuses
            .iter_mut()
            .for_each(|excuses| excuses.clock = true);
    }
    world.server.ahead_us += us;
}
