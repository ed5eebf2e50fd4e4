//! Windows in which the server refuses: as a replica, while it loads, when it cannot save, when
//! memory is full.

use leaseline_redis_model::Condition;

use crate::world::World;

pub(super) fn read_only(world: &mut World, ms: u64) {
    world.impose(Condition::ReadOnly, ms);
}

pub(super) fn loading(world: &mut World, ms: u64) {
    world.impose(Condition::Loading, ms);
}

pub(super) fn misconf(world: &mut World, ms: u64) {
    world.impose(Condition::SnapshotFailed, ms);
}

pub(super) fn out_of_memory(world: &mut World, ms: u64) {
    world.impose(Condition::OutOfMemory, ms);
}
