//! Lua states of servers that are gone, for servers to come: making one takes longer than most
//! tests.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use super::raw::Machine;
use super::{Compiled, KEPT_SCRIPTS, Sha};
use crate::state::Profile;

/// How many are kept, for all profiles together.
const MOST: usize = 16;

/// The most memory that one may hold on to, in bytes.
const MOST_MEMORY: usize = 4 << 20;

/// A Lua state with the scripts compiled in it.
pub(super) struct Spare {
    pub(super) machine: Machine,
    pub(super) compiled: HashMap<Sha, Compiled>,
}

static SPARES: Mutex<Vec<(Profile, Spare)>> = Mutex::new(Vec::new());

/// Keeps a state, unless it has grown or may be broken.
pub(super) fn keep(profile: Profile, spare: Spare) {
    let Spare { machine, compiled } = &spare;
    let large = compiled.len() > KEPT_SCRIPTS || machine.memory() > MOST_MEMORY;
    if large || thread::panicking() {
        return;
    }
    machine.reset_libraries();
    let mut spares = spares();
    if spares.len() < MOST {
        spares.push((profile, spare));
    }
}

/// All of them. A panic leaves nothing half done here.
fn spares() -> MutexGuard<'static, Vec<(Profile, Spare)>> {
    SPARES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A state that was kept.
pub(super) fn take(profile: Profile) -> Option<Spare> {
    let mut spares = spares();
    let index = spares.iter().position(|(of, _)| *of == profile)?;
    Some(spares.swap_remove(index).1)
}
