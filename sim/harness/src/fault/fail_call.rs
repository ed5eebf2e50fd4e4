//! One `redis.call` or `redis.pcall` of the next script answers an error instead of running. No real
//! server does that to a lone call; it shows what a script leaves behind wherever it is stopped.

use crate::world::World;

/// The last one is what clients try again after.
const ERRORS: [&str; 4] = [
    "ERR injected",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "NOPERM this user has no permissions",
    "TRYAGAIN injected",
];

pub(super) fn inject(world: &mut World, call: u32, error: u32) {
    world.server.fails_at = Some(u64::from(call) + 1);
    let line = ERRORS[error as usize % ERRORS.len()];
    world
        .server
        .model
        .fail_script_call(u64::from(call) + 1, line);
}
