//! Troubles that a server can be in, as the caller decides.

use std::collections::BTreeSet;

use crate::refusal::Refusal;

/// A trouble of the whole server. It lasts from [`Server::impose`](crate::Server::impose) to
/// [`Server::lift`](crate::Server::lift).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Condition {
    /// Used memory exceeds `maxmemory` and nothing may be evicted: what needs memory is refused
    /// with `OOM`. A script goes by what holds when it starts.
    OutOfMemory,
    /// This is a replica: writes are refused with `READONLY`. When it begins, everyone who waits
    /// is sent away with `UNBLOCKED`.
    ReadOnly,
    /// Data are being loaded: nearly everything is refused with `LOADING`.
    Loading,
    /// The last snapshot failed: writes, and `PING`, are refused with `MISCONF`.
    SnapshotFailed,
    /// This replica has lost its master and may not serve old data: nearly everything is refused
    /// with `MASTERDOWN`.
    MasterLinkDown,
    /// Fewer replicas than `min-replicas-to-write` are in reach: writes are refused with
    /// `NOREPLICAS`.
    TooFewReplicas,
    /// A script of somebody else runs for too long: nearly everything is refused with `BUSY`,
    /// until `SCRIPT KILL` ends it.
    Busy,
}

/// The conditions that hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conditions(BTreeSet<Condition>);

impl Conditions {
    pub(crate) fn holds(&self, condition: Condition) -> bool {
        !self.0.is_empty() && self.0.contains(&condition)
    }

    /// Whether there is none, which is the usual case.
    pub(crate) fn none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it began just now.
    pub(crate) fn impose(&mut self, condition: Condition) -> bool {
        self.0.insert(condition)
    }

    pub(crate) fn lift(&mut self, condition: Condition) {
        self.0.remove(&condition);
    }

    /// Why a write may not begin because of the disk, if it may not.
    pub(crate) fn refuse_snapshot(&self) -> Result<(), Refusal> {
        match self.holds(Condition::SnapshotFailed) {
            true => Err(Refusal::Text(SNAPSHOT_FAILED)),
            false => Ok(()),
        }
    }

    /// Why a write may not begin because of replication, if it may not.
    pub(crate) fn refuse_write(&self) -> Result<(), Refusal> {
        if self.holds(Condition::TooFewReplicas) {
            return Err(Refusal::Text(TOO_FEW_REPLICAS));
        }
        self.refuse_on_replica()
    }

    fn refuse_on_replica(&self) -> Result<(), Refusal> {
        match self.holds(Condition::ReadOnly) {
            true => Err(Refusal::Text(READ_ONLY)),
            false => Ok(()),
        }
    }

    /// Why the first write of a script may not run, if it may not. The order is another one.
    pub(crate) fn refuse_script_write(&self) -> Result<(), Refusal> {
        if self.none() {
            return Ok(());
        }
        self.refuse_on_replica()?;
        self.refuse_snapshot()?;
        self.refuse_write()
    }

    /// Why a script may not start, if it may not. `declared` is whether it has a shebang line.
    /// Only one that `EXEC` runs is still to be asked: a call by itself goes by the same flags.
    pub(crate) fn refuse_script(&self, declared: bool, allow_stale: bool) -> Result<(), Refusal> {
        if !self.holds(Condition::MasterLinkDown) {
            return Ok(());
        }
        if !declared {
            return Err(Refusal::Text(MASTER_DOWN));
        }
        if !allow_stale {
            return Err(Refusal::Text(
                "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' \
                 and 'allow-stale' flag is not set on the script.",
            ));
        }
        Ok(())
    }
}

pub(crate) const READ_ONLY: &str = "READONLY You can't write against a read only replica.";
pub(crate) const SNAPSHOT_FAILED: &str = "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to \
     disk. Commands that may modify the data set are disabled, because this instance is \
     configured to report errors during writes if RDB snapshotting fails \
     (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB \
     error.";
pub(crate) const TOO_FEW_REPLICAS: &str = "NOREPLICAS Not enough good replicas to write.";
pub(crate) const MASTER_DOWN: &str =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
pub(crate) const LOADING: &str = "LOADING Redis is loading the dataset in memory";
pub(crate) const BUSY: &str =
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
