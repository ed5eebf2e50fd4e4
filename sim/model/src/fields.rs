//! A hash value: fields in the order in which they were added.

use std::collections::BTreeMap;

use crate::map::Map;

/// The fields of a hash.
///
/// Redis promises no order, but a small hash of a real server answers in order of insertion, and
/// so does this one at every size: replies never depend on a hash seed.
#[derive(Debug, Default, Clone)]
pub(crate) struct Fields {
    /// Where each field is in `ordered`. Only looked up, never iterated.
    positions: Map<Vec<u8>, u64>,
    ordered: BTreeMap<u64, (Vec<u8>, Vec<u8>)>,
    next: u64,
    /// Whether it has outgrown the compact encoding, which it never goes back to.
    large: bool,
}

/// The most fields, and the longest fields and values, of a hash in Redis' compact encoding.
const COMPACT_LENGTH: usize = 512;
const COMPACT_TEXT: usize = 64;

impl Fields {
    pub(crate) fn len(&self) -> usize {
        self.ordered.len()
    }

    /// Whether Redis keeps it in the compact encoding, all in one piece.
    pub(crate) fn is_compact(&self) -> bool {
        !self.large
    }

    pub(crate) fn get(&self, field: &[u8]) -> Option<&Vec<u8>> {
        let position = self.positions.get(field)?;
        self.ordered.get(position).map(|(_, value)| value)
    }

    /// Sets a field and tells whether it is new. An old field keeps its place.
    pub(crate) fn set(&mut self, field: &[u8], value: Vec<u8>) -> bool {
        self.large |= field.len().max(value.len()) > COMPACT_TEXT;
        if let Some(entry) = self
            .positions
            .get(field)
            .and_then(|position| self.ordered.get_mut(position))
        {
            entry.1 = value;
            return false;
        }
        self.positions.insert(field.to_vec(), self.next);
        self.ordered.insert(self.next, (field.to_vec(), value));
        self.next += 1;
        self.large |= self.len() > COMPACT_LENGTH;
        true
    }

    pub(crate) fn remove(&mut self, field: &[u8]) -> bool {
        match self.positions.remove(field) {
            Some(position) => self.ordered.remove(&position).is_some(),
            None => false,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.ordered
            .values()
            .map(|(field, value)| (field.as_slice(), value.as_slice()))
    }
}

#[cfg(test)]
mod tests {
    use super::Fields;

    #[test]
    fn order_is_that_of_insertion() {
        let mut fields = Fields::default();
        for (field, value) in [(b"b", b"1"), (b"a", b"2"), (b"c", b"3")] {
            assert!(fields.set(field, value.to_vec()));
        }
        assert!(!fields.set(b"b", b"9".to_vec()));
        assert!(fields.remove(b"a"));
        assert!(!fields.remove(b"a"));
        assert!(fields.set(b"a", b"4".to_vec()));
        let all: Vec<_> = fields.iter().collect();
        assert_eq!(all, [(&b"b"[..], &b"9"[..]), (b"c", b"3"), (b"a", b"4")]);
        assert_eq!(fields.len(), 3);
        assert_eq!(fields.get(b"c"), Some(&b"3".to_vec()));
    }
}
