//! Consumer groups: how far each has read, and what its consumers have not acknowledged.

use std::collections::BTreeMap;

use super::id::StreamId;
use super::log::Log;
use super::node::StreamEntry;

/// An entry that was delivered and not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pending {
    pub(crate) consumer: Vec<u8>,
    pub(crate) delivered_at_ms: i64,
    pub(crate) deliveries: i64,
}

impl Pending {
    /// How long ago it was delivered.
    pub(crate) fn idle_ms(&self, now_ms: i64) -> i64 {
        now_ms.wrapping_sub(self.delivered_at_ms)
    }
}

/// A group of consumers that share the entries of a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    pub(crate) last_delivered_id: StreamId,
    /// How many of the entries ever added it has passed, if that is known.
    pub(crate) entries_read: Option<i64>,
    pub(crate) pending: BTreeMap<StreamId, Pending>,
    /// When each consumer was last seen.
    consumers: BTreeMap<Vec<u8>, i64>,
}

impl Group {
    pub(crate) fn new(last_delivered_id: StreamId, entries_read: Option<i64>) -> Self {
        Group {
            last_delivered_id,
            entries_read,
            ..Group::default()
        }
    }

    /// The consumers by name, with the times at which they were last seen.
    pub(crate) fn consumers(&self) -> impl ExactSizeIterator<Item = (&[u8], i64)> {
        let consumers = self.consumers.iter();
        consumers.map(|(name, seen_at_ms)| (name.as_slice(), *seen_at_ms))
    }

    pub(crate) fn has_consumer(&self, name: &[u8]) -> bool {
        self.consumers.contains_key(name)
    }

    /// Makes a consumer, if it is not there, and remembers that it has been seen.
    pub(crate) fn see(&mut self, consumer: &[u8], now_ms: i64) {
        self.consumers.insert(consumer.to_vec(), now_ms);
    }

    /// Removes a consumer with what it had not acknowledged, and says how much that was.
    pub(crate) fn remove_consumer(&mut self, name: &[u8]) -> usize {
        let before = self.pending.len();
        if self.consumers.remove(name).is_some() {
            self.pending.retain(|_, pending| pending.consumer != name);
        }
        before - self.pending.len()
    }

    /// What a consumer has not acknowledged, from one id to another, both included.
    pub(crate) fn pending_of<'a>(
        &'a self,
        consumer: &'a [u8],
    ) -> impl Iterator<Item = (StreamId, &'a Pending)> {
        let pending = self.pending.iter();
        pending
            .filter(move |(_, pending)| pending.consumer == consumer)
            .map(|(id, pending)| (*id, pending))
    }

    /// Takes note that an entry has been read.
    pub(crate) fn pass(&mut self, log: &Log, id: StreamId) {
        if id <= self.last_delivered_id {
            return;
        }
        self.entries_read = match self.entries_read {
            Some(read) if !log.has_gap_from(id) => Some(read.wrapping_add(1)),
            _ => log.added_up_to(id),
        };
        self.last_delivered_id = id;
    }

    /// How many entries it has yet to read, if that can be told.
    pub(crate) fn lag(&self, log: &Log) -> Option<i64> {
        let read = match self.entries_read {
            _ if log.entries_added == 0 => Some(0),
            Some(read) if !log.has_gap_from(self.last_delivered_id) => Some(read),
            _ => log.added_up_to(self.last_delivered_id),
        };
        read.map(|read| log.entries_added.wrapping_sub(read))
    }

    /// Delivers an entry to a consumer for the first time, or as if it were.
    pub(crate) fn deliver(&mut self, id: StreamId, consumer: &[u8], now_ms: i64) {
        let pending = Pending {
            consumer: consumer.to_vec(),
            delivered_at_ms: now_ms,
            deliveries: 1,
        };
        self.pending.insert(id, pending);
    }

    /// What a consumer has not acknowledged after an id, delivered once more. Entries that are
    /// deleted by now have only their ids.
    pub(crate) fn deliver_again<'a>(
        &mut self,
        log: &'a Log,
        after: StreamId,
        consumer: &[u8],
        count: usize,
        now_ms: i64,
    ) -> Vec<(StreamId, Option<&'a StreamEntry>)> {
        let Some(from) = after.next() else {
            return Vec::new();
        };
        let own = self
            .pending
            .range_mut(from..)
            .filter(|(_, pending)| pending.consumer == consumer);
        let delivered = own.take(count).map(|(id, pending)| {
            let entry = log.get(*id);
            if entry.is_some() {
                pending.delivered_at_ms = now_ms;
                pending.deliveries = pending.deliveries.wrapping_add(1);
            }
            (*id, entry)
        });
        delivered.collect()
    }
}
