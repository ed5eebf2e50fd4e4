//! A copy of a stream for tests to compare.

use std::collections::BTreeMap;

use crate::stream::{Group, Pending, Stream, StreamEntry};

/// The content of a stream. Ids are texts, as commands answer them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamContent {
    /// The entries in order: the id, then fields and values by turns.
    pub entries: Vec<(String, Vec<Vec<u8>>)>,
    /// The greatest id ever given.
    pub last_id: String,
    /// The greatest id that `XDEL` ever deleted.
    pub max_deleted_id: String,
    /// How many entries were ever added.
    pub entries_added: i64,
    /// The groups by name.
    pub groups: BTreeMap<Vec<u8>, GroupContent>,
}

/// A consumer group of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupContent {
    /// The greatest id that was delivered.
    pub last_delivered_id: String,
    /// How many of the entries ever added it has passed, if that is known.
    pub entries_read: Option<i64>,
    /// What was delivered and not acknowledged, in the order of the ids.
    pub pending: Vec<PendingContent>,
    /// The names of the consumers, in order.
    pub consumers: Vec<Vec<u8>>,
}

/// An entry that was delivered and not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingContent {
    /// Its id.
    pub id: String,
    /// Whom it was delivered to.
    pub consumer: Vec<u8>,
    /// How often it was delivered.
    pub deliveries: i64,
}

impl From<&Stream> for StreamContent {
    fn from(stream: &Stream) -> Self {
        let log = &stream.log;
        let entry = |entry: &StreamEntry| (entry.id.to_string(), entry.fields.clone());
        let groups = stream.groups.iter();
        StreamContent {
            entries: log.iter().map(entry).collect(),
            last_id: log.last_id.to_string(),
            max_deleted_id: log.max_deleted_id.to_string(),
            entries_added: log.entries_added,
            groups: groups
                .map(|(name, group)| (name.clone(), GroupContent::from(group)))
                .collect(),
        }
    }
}

impl From<&Group> for GroupContent {
    fn from(group: &Group) -> Self {
        let pending = group
            .pending
            .iter()
            .map(|(id, pending): (_, &Pending)| PendingContent {
                id: id.to_string(),
                consumer: pending.consumer.clone(),
                deliveries: pending.deliveries,
            });
        GroupContent {
            last_delivered_id: group.last_delivered_id.to_string(),
            entries_read: group.entries_read,
            pending: pending.collect(),
            consumers: group.consumers().map(|(name, _)| name.to_vec()).collect(),
        }
    }
}
