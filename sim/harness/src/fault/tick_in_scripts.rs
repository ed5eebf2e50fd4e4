//! Time passes inside scripts, as it does on a real server before 7.2.

use std::time::Duration;

use leaseline_redis_model::ScriptTime;

use crate::world::World;

pub(super) fn inject(world: &mut World, ms: u32) {
    let per_call = Duration::from_millis(ms.into());
    world
        .server
        .model
        .set_script_time(ScriptTime::Live { per_call });
    world.server.ticks = ms > 0;
}
