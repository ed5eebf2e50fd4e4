//! What the world knows of a client.

use std::collections::VecDeque;

use leaseline_core::message::Lease;

use crate::case::Op;

/// Something that a client is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// A line of the case.
    Op(Op),
    /// Renews everything that it holds.
    RenewAll,
    /// Claims what there is and acknowledges it: how a run ends.
    TakeOut { queue: usize },
    /// Gives up this object and takes a new one, with open claims resolved.
    Drain { queue: usize },
    /// Looks at the dead letters: how a run ends.
    LookAtDead { queue: usize },
}

#[derive(Debug, Default)]
pub(crate) struct Client {
    pub(crate) inbox: VecDeque<Job>,
    pub(crate) busy: bool,
    pub(crate) paused: bool,
    /// Its future is to be dropped.
    pub(crate) killed: bool,
    /// Leases that it has, by queue, the newest last.
    pub(crate) held: Vec<Vec<Lease>>,
    /// Leases that it has settled or released.
    pub(crate) old: Vec<Vec<Lease>>,
    /// Faults that wait for a request, with the requests that pass before.
    pub(crate) armed: Vec<(u32, Op)>,
    pub(crate) beat_us: u64,
    pub(crate) beats: u32,
}

/// The lease that a line means: the newest for 0.
pub(crate) fn pick(leases: &[Lease], pick: u32) -> Option<&Lease> {
    let from_end = pick as usize % leases.len().max(1);
    leases.iter().rev().nth(from_end)
}

impl Client {
    /// A lease that was settled or released is an old one.
    pub(crate) fn put_away(&mut self, queue: usize, lease: &Lease) {
        let held = &mut self.held[queue];
        if let Some(at) = held.iter().position(|other| other == lease) {
            let lease = held.remove(at);
            self.old[queue].push(lease);
        }
    }
}
