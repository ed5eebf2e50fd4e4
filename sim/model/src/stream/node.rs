//! A run of entries that Redis keeps in one list of packed elements. Where one ends decides what
//! approximate trimming removes.

use super::id::StreamId;
use crate::number;

/// `stream-node-max-entries`, as it is unless it is configured.
pub(crate) const MOST_ENTRIES: usize = 100;
/// `stream-node-max-bytes`, likewise.
const MOST_BYTES: usize = 4096;

/// One entry of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamEntry {
    pub(crate) id: StreamId,
    /// Fields and values by turns.
    pub(crate) fields: Vec<Vec<u8>>,
}

/// Neighbouring entries of a stream.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The id of the first entry that was ever here.
    first: StreamId,
    /// The id of the last entry that was ever here.
    last: StreamId,
    /// The names of the fields of that first entry. Entries that have the same do not repeat them.
    names: Vec<Vec<u8>>,
    entries: Vec<StreamEntry>,
    /// How many entries are gone; they keep their space.
    deleted: usize,
    bytes: usize,
}

impl Node {
    /// A node that starts with an entry.
    pub(super) fn new(entry: StreamEntry) -> Self {
        const HEADER_AND_END: usize = 7;
        let names: Vec<_> = entry.fields.iter().step_by(2).cloned().collect();
        // How many entries are there, how many are gone, how many names there are; a zero ends it.
        let counts = integer(1) + integer(0) + integer(names.len() as i64) + integer(0);
        let bytes = names.iter().map(|name| element(name)).sum::<usize>();
        let mut node = Node {
            first: entry.id,
            last: entry.id,
            names,
            entries: Vec::new(),
            deleted: 0,
            bytes: HEADER_AND_END + counts + bytes,
        };
        node.push(entry);
        node
    }

    /// Whether an entry has to go into the next node.
    pub(super) fn has_no_room_for(&self, fields: &[Vec<u8>]) -> bool {
        let more: usize = fields.iter().map(Vec::len).sum();
        self.bytes + more >= MOST_BYTES || self.entries.len() + self.deleted >= MOST_ENTRIES
    }

    pub(super) fn push(&mut self, entry: StreamEntry) {
        self.bytes += self.size(&entry);
        self.last = entry.id;
        self.entries.push(entry);
    }

    /// The bytes of an entry in this node.
    fn size(&self, entry: &StreamEntry) -> usize {
        let fields = &entry.fields;
        let count = self.names.len() as i64;
        let same_names = self.names.iter().eq(fields.iter().step_by(2));
        let flags = integer(i64::from(same_names));
        let id = integer(entry.id.ms.wrapping_sub(self.first.ms) as i64)
            + integer(entry.id.sequence.wrapping_sub(self.first.sequence) as i64);
        let (content, elements) = if same_names {
            let values = fields.iter().skip(1).step_by(2);
            (values.map(|value| element(value)).sum::<usize>(), count + 3)
        } else {
            let count = fields.len() as i64 / 2;
            let all = fields.iter().map(|field| element(field)).sum::<usize>();
            (integer(count) + all, 2 * count + 4)
        };
        flags + id + content + integer(elements)
    }

    pub(super) fn last(&self) -> StreamId {
        self.last
    }

    /// The entries that are still there.
    pub(super) fn entries(&self) -> &[StreamEntry] {
        &self.entries
    }

    /// The entries from one id to another, both included.
    pub(super) fn range(&self, from: StreamId, to: StreamId) -> &[StreamEntry] {
        let start = self.entries.partition_point(|entry| entry.id < from);
        let end = self.entries.partition_point(|entry| entry.id <= to);
        self.entries.get(start..end).unwrap_or_default()
    }

    pub(super) fn remove(&mut self, id: StreamId) -> bool {
        match self.entries.binary_search_by_key(&id, |entry| entry.id) {
            Ok(index) => {
                self.entries.remove(index);
                self.deleted += 1;
                true
            }
            Err(_) => false,
        }
    }

    /// Removes the first entries.
    pub(super) fn remove_first(&mut self, count: usize) {
        self.deleted += self.entries.drain(..count).count();
    }
}

/// The bytes of an element, which is kept as a number if it is the text of one.
fn element(text: &[u8]) -> usize {
    if let Some(number) = number::parse_integer(text) {
        return integer(number);
    }
    with_length(match text.len() {
        ..64 => 1 + text.len(),
        64..4096 => 2 + text.len(),
        _ => 5 + text.len(),
    })
}

/// The bytes of a number.
fn integer(number: i64) -> usize {
    with_length(match number {
        0..=127 => 1,
        -4096..=4095 => 2,
        -32_768..=32_767 => 3,
        -8_388_608..=8_388_607 => 4,
        -2_147_483_648..=2_147_483_647 => 5,
        _ => 9,
    })
}

/// An element ends with its own length, to be read backwards.
fn with_length(bytes: usize) -> usize {
    let length = match bytes {
        ..128 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    };
    bytes + length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_sizes() {
        for (text, size) in [
            (&b""[..], 2),
            (b"127", 2),
            (b"128", 3),
            (b"-1", 3),
            (b"007", 5),
            (b"40000", 5),
            (b"9223372036854775807", 10),
            (&[b'x'; 63], 65),
            (&[b'x'; 64], 67),
            (&[b'x'; 126], 130),
        ] {
            assert_eq!(element(text), size, "{text:?}");
        }
    }
}
