//! States that a campaign must have been in: what was never reached was never tested.

use crate::check::{Answer, Step};

macro_rules! marks {
    ($($(#[$doc:meta])* $mark:ident)*) => {
        /// A state that is worth reaching.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Mark { $($(#[$doc])* $mark),* }

        impl Mark {
            /// All of them.
            pub const ALL: &'static [Mark] = &[$(Mark::$mark),*];
        }
    };
}

marks! {
    /// A claim was answered from its record.
    ClaimReplayed
    /// A recorded claim was asked for after its lease was over, and refused.
    ReplayRefused
    /// An operation was answered from its marker.
    OperationReplayed
    /// An acknowledgement under an old token was refused.
    StaleAckRefused
    /// A renewal under an old token was refused.
    StaleRenewal
    /// A claim gave a lease back that was over.
    Reclaimed
    /// A claim gave two or more back.
    ReclaimedSeveral
    /// An acknowledgement met a lease that was over and not given back yet.
    AckAfterExpiry
    /// A message went to the dead letters.
    DeadLettered
    /// Dead letters were moved back.
    Redriven
    /// A duplicate was refused.
    DuplicateRefused
    /// A key was accepted again after its window.
    AcceptedAfterWindow
    /// A publish met a full queue.
    QueueFull
    /// A delayed message was stored.
    Delayed
    /// A message was released.
    Released
    /// A claim found nothing.
    ClaimEmpty
    /// One call granted several.
    ClaimSeveral
    /// A claim ended in an error.
    ClaimFailed
    /// A script was not known and was sent as text.
    ScriptReloaded
    /// A script failed in the middle.
    CallFailed
    /// A script was refused because memory is full.
    OutOfMemory
    /// A write was refused with READONLY.
    ReadOnly
    /// The server refused a key of another type.
    WrongType
    /// A failover or restart took scripts back.
    ScriptsLost
    /// The clock was behind the deadline of a lease by more than a lease.
    ClockWentBack
    /// A worker was killed.
    WorkerKilled
    /// A purge removed something.
    Purged
    /// The token counter was dropped.
    CounterDropped
}

/// How often each state was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marks([u64; Mark::ALL.len()]);

impl Default for Marks {
    fn default() -> Self {
        Self([0; Mark::ALL.len()])
    }
}

impl Marks {
    /// How often a state was reached.
    pub fn of(&self, mark: Mark) -> u64 {
        self.0[mark as usize]
    }

    /// The states that were never reached.
    pub fn missing(&self) -> Vec<Mark> {
        let all = Mark::ALL.iter().copied();
        all.filter(|mark| self.of(*mark) == 0).collect()
    }

    /// Adds what another run reached.
    pub fn add(&mut self, other: &Marks) {
        for (mine, other) in self.0.iter_mut().zip(other.0) {
            *mine += other;
        }
    }

    pub(crate) fn count(&mut self, mark: Mark) {
        self.0[mark as usize] += 1;
    }

    /// Counts what one command reached.
    pub(crate) fn see(&mut self, step: &Step<'_>) {
        if step.failed_call.is_some() {
            self.count(Mark::CallFailed);
        }
        let script = step.script();
        match &step.answer {
            Answer::Error(line) => {
                let known = [
                    ("NOSCRIPT", Mark::ScriptReloaded),
                    ("OOM", Mark::OutOfMemory),
                    ("READONLY", Mark::ReadOnly),
                    ("WRONGTYPE", Mark::WrongType),
                ];
                for (code, mark) in known {
                    if line.starts_with(code) {
                        self.count(mark);
                    }
                }
            }
            Answer::Claim(claim) => {
                let replayed = claim.grants.iter().filter(|grant| grant.replayed).count();
                let fresh = claim.grants.len() - replayed;
                for (reached, mark) in [
                    (replayed > 0, Mark::ClaimReplayed),
                    (claim.reclaimed > 0, Mark::Reclaimed),
                    (claim.reclaimed > 1, Mark::ReclaimedSeveral),
                    (claim.dead > 0, Mark::DeadLettered),
                    (claim.grants.is_empty(), Mark::ClaimEmpty),
                    (fresh > 1, Mark::ClaimSeveral),
                    (
                        claim.grants.is_empty()
                            && step
                                .command
                                .args
                                .get(3)
                                .is_some_and(|mode| *mode == b"replay"),
                        Mark::ReplayRefused,
                    ),
                ] {
                    if reached {
                        self.count(mark);
                    }
                }
                let lease = u64::from(step.settings.lease_ms);
                let latest = step
                    .before
                    .deadlines
                    .last()
                    .map_or(0, |(_, deadline)| *deadline);
                if lease > 0 && step.excuse.clock && latest > step.server_ms + lease {
                    self.count(Mark::ClockWentBack);
                }
            }
            Answer::Int(answer) => {
                if step.marker_before {
                    self.count(Mark::OperationReplayed);
                }
                let mark = match (script, answer) {
                    ("remove_lease" | "move_lease", ..=0) => Mark::StaleAckRefused,
                    ("remove_lease" | "move_lease", 1..) => {
                        let due = step
                            .message
                            .and_then(|message| step.before.deadline(message));
                        match due {
                            Some(due) if due <= step.server_ms => Mark::AckAfterExpiry,
                            _ => return,
                        }
                    }
                    ("add" | "publish", -1) => Mark::QueueFull,
                    ("publish" | "delay", 0) => Mark::DuplicateRefused,
                    ("delay", 1..) => Mark::Delayed,
                    ("release", 1..) => Mark::Released,
                    ("redrive", 1..) => Mark::Redriven,
                    ("purge", 1..) => Mark::Purged,
                    ("cleanup", 1) if step.before.counter > 0 => Mark::CounterDropped,
                    _ => return,
                };
                self.count(mark);
            }
            Answer::Numbers(_) | Answer::Other => {}
        }
    }
}
