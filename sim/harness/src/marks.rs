//! States that a campaign must have been in: what was never reached was never tested.

#[cfg(doc)]
use crate::case::Family;
use crate::check::{Answer, Step};

/// The most leases that one claim gives back.
const MOST_RECLAIMS: u64 = 100;

macro_rules! marks {
    ($($(#[$doc:meta])* $mark:ident)*) => {
        /// A state that is worth reaching.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Mark { $($(#[$doc])* $mark),* }

        impl Mark {
            /// All of them.
            pub const ALL: &'static [Mark] = &[$(Mark::$mark),*];

            /// Those that only a recipe reaches: chance draws no operation of [`Family::Hand`].
            pub const BY_HAND: &'static [Mark] =
                &[Mark::ReclaimedMost, Mark::ForeignGranted];
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
    /// A call ended with its outcome unknown to the client.
    OutcomeUnknown
    /// A worker heard that its settlement was done.
    Settled
    /// A worker heard that its settlement came too late.
    SettledTooLate
    /// A lease was renewed.
    Renewed
    /// A message was granted again after an earlier lease.
    Redelivered
    /// Everything was refused with LOADING.
    Loading
    /// A write was refused with MISCONF.
    Misconf
    /// A claim gave back as many leases as one call may.
    ReclaimedMost
    /// An element without an envelope was granted.
    ForeignGranted
    /// A claim ended a lease whose message was not in processing any more.
    GoneLeaseEnded
}

impl Mark {
    /// The name, as a recipe has it: `stale_ack_refused`.
    pub fn name(self) -> String {
        let mut name = String::new();
        for letter in format!("{self:?}").chars() {
            if letter.is_ascii_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }
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

    /// The states that were never reached, of those that chance can reach.
    pub fn missing(&self) -> Vec<Mark> {
        let all = Mark::ALL.iter().copied();
        let chance = all.filter(|mark| !Mark::BY_HAND.contains(mark));
        chance.filter(|mark| self.of(*mark) == 0).collect()
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
                    ("LOADING", Mark::Loading),
                    ("MISCONF", Mark::Misconf),
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
                    (claim.reclaimed >= MOST_RECLAIMS, Mark::ReclaimedMost),
                    (
                        claim
                            .grants
                            .iter()
                            .any(|grant| step.names.is_foreign(grant.message)),
                        Mark::ForeignGranted,
                    ),
                    (
                        claim
                            .grants
                            .iter()
                            .any(|grant| !grant.replayed && grant.count > 1),
                        Mark::Redelivered,
                    ),
                    (
                        step.excuse.evicted && ends_gone_lease(step),
                        Mark::GoneLeaseEnded,
                    ),
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
            Answer::Numbers(numbers) => {
                if script == "renew" && numbers.iter().any(|until| *until > 0) {
                    self.count(Mark::Renewed);
                }
            }
            Answer::Other => {}
        }
    }
}

/// Whether a claim ended a lease of something that is not in processing.
fn ends_gone_lease(step: &Step<'_>) -> bool {
    let mut leases = step.before.deadlines.iter().map(|(message, _)| *message);
    leases.any(|message| {
        !step.before.processing.contains(&message) && step.after.deadline(message).is_none()
    })
}
