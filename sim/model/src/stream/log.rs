//! The entries of a stream, and what is remembered of those that are gone.

use std::collections::BTreeMap;

use super::id::{NewId, StreamId};
use super::node::{Node, StreamEntry};
use super::radix_tree;

/// Why an entry was not added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAdded {
    /// Its id is not greater than the last one.
    NotGreater,
    /// No id is greater than the last one.
    Exhausted,
    /// No id within the wanted millisecond is.
    ExhaustedWithin,
}

/// What trimming keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The last so many entries.
    Newest(u64),
    /// The entries from an id on.
    From(StreamId),
}

/// How to trim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Trim {
    pub(crate) keep: Keep,
    /// Whether only whole nodes are removed.
    pub(crate) approximate: bool,
    /// How many entries are removed at most; 0 for all.
    pub(crate) limit: u64,
}

/// The entries and the counters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    nodes: BTreeMap<StreamId, Node>,
    length: u64,
    /// The greatest id ever given.
    pub(crate) last_id: StreamId,
    /// The greatest id ever deleted one by one; trimming does not count.
    pub(crate) max_deleted_id: StreamId,
    pub(crate) entries_added: i64,
}

impl Log {
    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    /// Adds an entry at the end.
    pub(crate) fn add(
        &mut self,
        id: NewId,
        fields: Vec<Vec<u8>>,
        now_ms: i64,
    ) -> Result<StreamId, NotAdded> {
        let last = self.last_id;
        let after_last = last.next().ok_or(NotAdded::Exhausted)?;
        let id = match id {
            NewId::Clock => match u64::try_from(now_ms).unwrap_or(0) {
                ms if ms > last.ms => StreamId { ms, sequence: 0 },
                _ => after_last,
            },
            NewId::Within(ms) if ms == last.ms && after_last.ms != ms => {
                return Err(NotAdded::ExhaustedWithin);
            }
            NewId::Within(ms) if ms == last.ms => after_last,
            NewId::Within(ms) => StreamId { ms, sequence: 0 },
            NewId::Exactly(id) => id,
        };
        if id <= last {
            return Err(NotAdded::NotGreater);
        }
        let entry = StreamEntry { id, fields };
        match self.nodes.values_mut().next_back() {
            Some(node) if !node.has_no_room_for(&entry.fields) => node.push(entry),
            _ => {
                self.nodes.insert(id, Node::new(entry));
            }
        }
        self.length += 1;
        self.entries_added = self.entries_added.wrapping_add(1);
        self.last_id = id;
        Ok(id)
    }

    /// Deletes an entry, if it is there.
    pub(crate) fn delete(&mut self, id: StreamId) -> bool {
        let Some((first, node)) = self.nodes.range_mut(..=id).next_back() else {
            return false;
        };
        let first = *first;
        if !node.remove(id) {
            return false;
        }
        if node.entries().is_empty() {
            self.nodes.remove(&first);
        }
        self.length -= 1;
        self.max_deleted_id = self.max_deleted_id.max(id);
        true
    }

    /// Removes old entries and says how many.
    pub(crate) fn trim(&mut self, trim: Trim) -> u64 {
        let mut removed = 0;
        while let Some(mut oldest) = self.nodes.first_entry() {
            let node = oldest.get_mut();
            let entries = node.entries().len() as u64;
            let (surplus, whole) = match trim.keep {
                Keep::Newest(wanted) if self.length <= wanted => break,
                Keep::Newest(wanted) => (self.length - wanted, self.length - wanted >= entries),
                Keep::From(id) => {
                    let surplus = node.entries().partition_point(|entry| entry.id < id);
                    // An entry that is gone can keep a node without entries.
                    (surplus as u64, node.last() < id)
                }
            };
            if trim.limit > 0 && removed + entries > trim.limit || trim.approximate && !whole {
                break;
            }
            if !whole {
                node.remove_first(surplus as usize);
                self.length -= surplus;
                removed += surplus;
                break;
            }
            oldest.remove();
            self.length -= entries;
            removed += entries;
        }
        removed
    }

    /// The entries from one id to another, both included.
    pub(crate) fn range(
        &self,
        from: StreamId,
        to: StreamId,
    ) -> impl DoubleEndedIterator<Item = &StreamEntry> {
        let before = self.nodes.range(..=from).next_back();
        let first = before.map_or(from, |(first, _)| *first);
        let nodes = (from <= to).then(|| self.nodes.range(first..=to));
        let nodes = nodes.into_iter().flatten();
        nodes.flat_map(move |(_, node)| node.range(from, to))
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &StreamEntry> {
        self.range(StreamId::MIN, StreamId::MAX)
    }

    /// The entries after an id.
    pub(crate) fn after(&self, id: StreamId) -> impl DoubleEndedIterator<Item = &StreamEntry> {
        // Nothing is between the last of all ids and the first.
        let from = id.next();
        let range = from.map(|from| self.range(from, StreamId::MAX));
        range.into_iter().flatten()
    }

    pub(crate) fn get(&self, id: StreamId) -> Option<&StreamEntry> {
        self.range(id, id).next()
    }

    /// The id of the first entry, or 0-0.
    pub(crate) fn first_entry_id(&self) -> StreamId {
        self.iter().next().map(|entry| entry.id).unwrap_or_default()
    }

    /// The id of the last entry, or 0-0.
    pub(crate) fn last_entry_id(&self) -> StreamId {
        let last = self.iter().next_back();
        last.map(|entry| entry.id).unwrap_or_default()
    }

    /// Whether an entry from an id on was deleted, or may have been: then nobody can count how
    /// many were added after it.
    pub(crate) fn has_gap_from(&self, id: StreamId) -> bool {
        self.length > 0
            && self.max_deleted_id != StreamId::MIN
            && self.first_entry_id() <= self.max_deleted_id
            && id <= self.max_deleted_id
    }

    /// How many entries were ever added up to an id, if that can be told.
    pub(crate) fn added_up_to(&self, id: StreamId) -> Option<i64> {
        let all = self.entries_added;
        if all == 0 || self.length == 0 && id <= self.last_id || id == self.last_id {
            return Some(all);
        }
        if id > self.last_id {
            return None;
        }
        let first = self.first_entry_id();
        let whole = self.max_deleted_id < first;
        let before = all.wrapping_sub(self.length as i64);
        match id.cmp(&first) {
            std::cmp::Ordering::Less if whole => Some(before),
            std::cmp::Ordering::Equal if whole => Some(before.wrapping_add(1)),
            _ => None,
        }
    }

    /// The nodes with entries, and the nodes of the tree over them.
    pub(crate) fn tree_size(&self) -> (usize, usize) {
        let keys: Vec<_> = self.nodes.keys().map(|first| first.to_bytes()).collect();
        (keys.len(), radix_tree::node_count(&keys))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(ms: u64) -> StreamId {
        StreamId { ms, sequence: 0 }
    }

    fn log(entries: u64) -> Log {
        let mut log = Log::default();
        for ms in 1..=entries {
            let fields = vec![b"field".to_vec(), b"value".to_vec()];
            log.add(NewId::Exactly(id(ms)), fields, 0).unwrap();
        }
        log
    }

    fn trim(keep: Keep, approximate: bool, limit: u64) -> Trim {
        Trim {
            keep,
            approximate,
            limit,
        }
    }

    #[test]
    fn approximate_trimming_keeps_whole_nodes() {
        let mut log = log(350);
        assert_eq!(log.trim(trim(Keep::Newest(120), true, 0)), 200);
        assert_eq!(log.trim(trim(Keep::Newest(120), true, 0)), 0);
        assert_eq!(log.trim(trim(Keep::Newest(0), true, 99)), 0);
        assert_eq!(log.trim(trim(Keep::From(id(300)), true, 0)), 0);
        assert_eq!(log.trim(trim(Keep::From(id(301)), true, 0)), 100);
        assert_eq!((log.len(), log.first_entry_id()), (50, id(301)));
    }

    #[test]
    fn exact_trimming_cuts_a_node() {
        let mut log = log(350);
        assert_eq!(log.trim(trim(Keep::Newest(120), false, 0)), 230);
        assert_eq!(log.trim(trim(Keep::From(id(340)), false, 0)), 109);
        assert_eq!(log.trim(trim(Keep::Newest(0), false, 0)), 11);
        assert_eq!((log.len(), log.tree_size()), (0, (0, 1)));
        assert_eq!((log.last_id, log.max_deleted_id), (id(350), StreamId::MIN));
    }

    #[test]
    fn ranges_cross_nodes() {
        let mut log = log(350);
        assert!(log.delete(id(100)) && !log.delete(id(100)) && !log.delete(id(999)));
        let ids = |from, to| -> Vec<u64> {
            let range = log.range(id(from), id(to));
            range.map(|entry| entry.id.ms).collect()
        };
        assert_eq!(ids(98, 102), [98, 99, 101, 102]);
        assert_eq!(ids(102, 98), [0; 0]);
        assert_eq!(ids(349, 999), [349, 350]);
        assert_eq!(log.after(id(350)).count(), 0);
        assert_eq!(log.iter().next_back().map(|entry| entry.id), Some(id(350)));
    }

    #[test]
    fn ids_run_out() {
        let mut log = Log::default();
        let last_of_5 = StreamId {
            ms: 5,
            sequence: u64::MAX,
        };
        assert_eq!(log.add(NewId::Exactly(last_of_5), vec![], 0), Ok(last_of_5));
        let again = log.add(NewId::Within(5), vec![], 0);
        assert_eq!(again, Err(NotAdded::ExhaustedWithin));
        assert_eq!(log.add(NewId::Clock, vec![], 4), Ok(id(6)));
        log.add(NewId::Exactly(StreamId::MAX), vec![], 0).unwrap();
        assert_eq!(log.add(NewId::Clock, vec![], 4), Err(NotAdded::Exhausted));
    }
}
