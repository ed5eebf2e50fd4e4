//! What must be in a queue, as plain lists. Lists are head first, as Redis has them.

use std::collections::{BTreeMap, BTreeSet};

use leaseline_core::Config;
use leaseline_core::config::Log;
use leaseline_core::event::Operation;
use leaseline_core::message::{Delivery, Lease, Settlement};

/// What must be in a queue. Messages are named by their payloads, which are all different.
pub(crate) struct Account {
    pub(crate) leases: bool,
    limit: Option<u64>,
    logs: [Log; 2],
    pub(crate) pending: Vec<String>,
    pub(crate) processing: Vec<String>,
    pub(crate) completed: Vec<String>,
    pub(crate) failed: Vec<String>,
    pub(crate) dead: Vec<String>,
    pub(crate) removed: usize,
    pub(crate) published: usize,
    /// The current lease of each message in processing.
    pub(crate) held: BTreeMap<String, Lease>,
    /// Those of them that are over and not reclaimed, the oldest deadline first.
    pub(crate) expired: Vec<String>,
    /// Claims of each message that is not at its end.
    pub(crate) counts: BTreeMap<String, u64>,
    /// Leases that were settled or passed on.
    pub(crate) old: Vec<Lease>,
    pub(crate) granted: u64,
    /// Deduplication keys inside their window.
    pub(crate) keys: BTreeSet<String>,
}

/// What a claim must give, and what it must tell before.
pub(crate) struct Expected {
    pub(crate) payloads: Vec<String>,
    pub(crate) told: Vec<(Operation, Option<String>, u64)>,
}

impl Account {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            leases: config.visibility_timeout_ms.is_some(),
            limit: config.max_delivery_count.map(u64::from),
            logs: [config.completed, config.failed],
            pending: Vec::new(),
            processing: Vec::new(),
            completed: Vec::new(),
            failed: Vec::new(),
            dead: Vec::new(),
            removed: 0,
            published: 0,
            held: BTreeMap::new(),
            expired: Vec::new(),
            counts: BTreeMap::new(),
            old: Vec::new(),
            granted: 0,
            keys: BTreeSet::new(),
        }
    }

    pub(crate) fn publish(&mut self, payload: String) {
        self.published += 1;
        self.pending.insert(0, payload);
    }

    /// A claim of at most `max`: expired leases first go back, and what was claimed too often to
    /// the dead letters.
    pub(crate) fn claim(&mut self, max: usize) -> Expected {
        let mut told = Vec::new();
        for payload in std::mem::take(&mut self.expired).into_iter().rev() {
            let lease = self.held.remove(&payload).expect("it was held");
            told.push((
                Operation::ClaimReclaim,
                lease.message_id(),
                self.counts[&payload],
            ));
            self.old.push(lease);
            self.processing.retain(|other| *other != payload);
            self.pending.push(payload);
        }
        let mut payloads = Vec::new();
        while payloads.len() < max
            && let Some(payload) = self.pending.pop()
        {
            let claims = self.counts.get(&payload).copied().unwrap_or(0) + 1;
            if self.limit.is_some_and(|limit| claims > limit) {
                let mut leases = self.old.iter().rev();
                let id = leases.find_map(|lease| {
                    (super::keys::payload(&lease.stored) == payload).then(|| lease.message_id())
                });
                told.push((Operation::Dlq, id.flatten(), claims));
                self.counts.remove(&payload);
                self.dead.insert(0, payload);
                continue;
            }
            if self.leases {
                self.counts.insert(payload.clone(), claims);
            }
            self.processing.insert(0, payload.clone());
            payloads.push(payload);
        }
        Expected { payloads, told }
    }

    /// The claim gave this.
    pub(crate) fn grant(&mut self, payload: &str, delivery: &Delivery) {
        self.granted += 1;
        self.held.insert(payload.into(), delivery.lease.clone());
    }

    /// The holder of a message settled it.
    pub(crate) fn settle(&mut self, payload: &str, settlement: Settlement) {
        let lease = self.held.remove(payload).expect("it was held");
        self.old.push(lease);
        self.counts.remove(payload);
        for list in [&mut self.processing, &mut self.expired] {
            list.retain(|other| other != payload);
        }
        let (log, list) = match settlement {
            Settlement::Ack => (self.logs[0], &mut self.completed),
            Settlement::Fail => (self.logs[1], &mut self.failed),
        };
        match log {
            Log::Off => self.removed += 1,
            _ => list.insert(0, payload.into()),
        }
    }
}
