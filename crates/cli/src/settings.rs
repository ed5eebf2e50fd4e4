//! Settings: what a flag, the environment or a configuration file may say, in this order.
//!
//! A setting has one name: `--visibility-timeout`, `LEASELINE_VISIBILITY_TIMEOUT`, and
//! `visibility_timeout` in the file. The first two are clap's; [`File`] holds the third, and each
//! group of flags takes from it what it lacks.

mod file;
mod given;
mod leasing;
mod logs;
mod publishing;
mod shared;

pub(crate) use file::File;
pub(crate) use given::Given;
pub(crate) use leasing::{Heartbeat, Leasing};
pub(crate) use logs::{CompletedLog, FailedLog};
pub(crate) use publishing::Publishing;
pub(crate) use shared::Shared;

/// Takes a setting from the file if neither the command line nor the environment has it.
pub(crate) fn take<T: Clone>(setting: &mut Option<T>, file: &Option<T>) {
    if setting.is_none() {
        setting.clone_from(file);
    }
}
