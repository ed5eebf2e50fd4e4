//! The keys: values and when they expire.

use crate::map::Map;
use crate::refusal::Refusal;
use crate::value::{Kind, Value};

/// A key's value and its end.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    pub(crate) value: Value,
    /// Alive up to and including this millisecond.
    pub(crate) expires_at_ms: Option<i64>,
}

/// What happened to a key, for those who watch it or wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// It was written: watches break, and who waits for a stream may be served.
    Written,
    /// Something was taken out of it: watches break.
    Lessened,
    /// It counts as unchanged, but who waits for a stream may be served.
    Woken,
    /// It came into being, with a value of this type. Who waits for a list or a sorted set is
    /// served then and not by what is put into one that is there.
    Added(&'static str),
}

/// All keys, seen from one instant: what has expired by then is gone at the first touch.
#[derive(Debug, Default, Clone)]
pub(crate) struct Keyspace {
    slots: Map<Vec<u8>, Slot>,
    now_ms: i64,
    /// The keys that changed, in order, while somebody watches or waits for keys.
    changes: Option<Vec<(Vec<u8>, Change)>>,
    /// The keys that were written, while the caller wants to know.
    written: Option<Vec<Vec<u8>>>,
}

impl Keyspace {
    /// Sets the instant that decides whether a key has expired.
    pub(crate) fn set_now(&mut self, now_ms: i64) {
        self.now_ms = now_ms;
    }

    pub(crate) fn now_ms(&self) -> i64 {
        self.now_ms
    }

    /// Whether a key is there whose time is up. Nobody has touched it since.
    pub(crate) fn holds_expired(&self, key: &[u8]) -> bool {
        let slot = self.slots.get(key);
        slot.is_some_and(|slot| slot.is_expired(self.now_ms))
    }

    /// Says that a key was written, whether or not that made a difference: where Redis breaks a
    /// `WATCH` and wakes those who wait for a stream. Every command that writes calls it for every
    /// key that it wrote, when it wrote.
    pub(crate) fn touch(&mut self, key: &[u8]) {
        self.record(key, Change::Written);
    }

    /// As [`Keyspace::touch`], where Redis does not look whether somebody can be served: who
    /// waits for a stream is not woken when something is taken out of it.
    pub(crate) fn touch_quietly(&mut self, key: &[u8]) {
        self.record(key, Change::Lessened);
    }

    /// Says that those who wait for a key are to be looked after, though it counts as unchanged.
    pub(crate) fn wake(&mut self, key: &[u8]) {
        self.record(key, Change::Woken);
    }

    /// Starts to remember which keys are written.
    pub(crate) fn note_writes(&mut self) {
        self.written.get_or_insert_default();
    }

    /// The keys that were written since the last call, as often as they were.
    pub(crate) fn take_written(&mut self) -> Vec<Vec<u8>> {
        self.written
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    /// A living key.
    pub(crate) fn peek(&self, key: &[u8], now_ms: i64) -> Option<&Slot> {
        self.slots.get(key).filter(|slot| !slot.is_expired(now_ms))
    }

    fn record(&mut self, key: &[u8], change: Change) {
        if let Some(written) = &mut self.written {
            written.push(key.to_vec());
        }
        if let Some(changes) = &mut self.changes {
            changes.push((key.to_vec(), change));
        }
    }

    /// Starts or stops remembering what changes.
    pub(crate) fn record_changes(&mut self, on: bool) {
        match (on, &self.changes) {
            (true, None) => self.changes = Some(Vec::new()),
            (false, Some(_)) => self.changes = None,
            _ => {}
        }
    }

    /// What changed since the last call.
    pub(crate) fn take_changes(&mut self) -> Vec<(Vec<u8>, Change)> {
        self.changes
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }

    fn forget_if_expired(&mut self, key: &[u8]) {
        if self
            .slots
            .get(key)
            .is_some_and(|slot| slot.is_expired(self.now_ms))
        {
            self.slots.remove(key);
            self.touch(key);
        }
    }

    pub(crate) fn slot(&mut self, key: &[u8]) -> Option<&mut Slot> {
        self.forget_if_expired(key);
        self.slots.get_mut(key)
    }

    pub(crate) fn contains(&mut self, key: &[u8]) -> bool {
        self.slot(key).is_some()
    }

    /// The value of a key that may be missing but must be of the wanted type.
    pub(crate) fn find<K: Kind>(&mut self, key: &[u8]) -> Result<Option<&mut K>, Refusal> {
        match self.slot(key) {
            None => Ok(None),
            Some(slot) => match K::of_mut(&mut slot.value) {
                Some(value) => Ok(Some(value)),
                None => Err(Refusal::WrongType),
            },
        }
    }

    /// As [`Keyspace::find`], making an empty value where there is none. The caller puts
    /// something into it.
    pub(crate) fn find_or_create<K: Kind>(&mut self, key: &[u8]) -> Result<&mut K, Refusal> {
        self.forget_if_expired(key);
        if !self.slots.contains_key(key) {
            self.put(key, K::default().into_value());
        }
        let slot = self.slots.get_mut(key);
        slot.and_then(|slot| K::of_mut(&mut slot.value))
            .ok_or(Refusal::WrongType)
    }

    /// Puts a value in place of whatever was there, without an expiry. That touches the key.
    pub(crate) fn put(&mut self, key: &[u8], value: Value) {
        self.put_slot(
            key,
            Slot {
                value,
                expires_at_ms: None,
            },
        );
    }

    pub(crate) fn put_slot(&mut self, key: &[u8], slot: Slot) {
        self.forget_if_expired(key);
        let kind = slot.value.kind();
        if self.slots.insert(key.to_vec(), slot).is_none() {
            self.record(key, Change::Added(kind));
        }
        self.touch(key);
    }

    /// Puts the result of a command such as `ZUNIONSTORE` in place of whatever was there; one
    /// without members leaves no key.
    pub(crate) fn store(&mut self, key: &[u8], value: Value) {
        match value.is_empty_collection() {
            true => drop(self.take(key)),
            false => self.put(key, value),
        }
    }

    /// Takes a key out, and touches it. An expired one is not there to be taken.
    pub(crate) fn take(&mut self, key: &[u8]) -> Option<Slot> {
        self.forget_if_expired(key);
        let slot = self.slots.remove(key);
        if slot.is_some() {
            self.touch(key);
        }
        slot
    }

    /// Gives a key another name, or says that it is not there. What had that name goes first, and
    /// the new name is there before the old one goes: in that order those who wait are served.
    pub(crate) fn rename(&mut self, from: &[u8], to: &[u8]) -> bool {
        self.forget_if_expired(from);
        if from == to || !self.slots.contains_key(from) {
            return self.slots.contains_key(from);
        }
        self.take(to);
        if let Some(slot) = self.slots.remove(from) {
            self.put_slot(to, slot);
            self.touch(from);
        }
        true
    }

    /// Takes a key out if its collection has become empty.
    pub(crate) fn drop_if_empty(&mut self, key: &[u8]) {
        if self
            .slots
            .get(key)
            .is_some_and(|slot| slot.value.is_empty_collection())
        {
            self.slots.remove(key);
        }
    }

    /// Takes every key out.
    pub(crate) fn clear(&mut self) {
        self.touch_all();
        self.slots.clear();
    }

    /// Touches every living key.
    pub(crate) fn touch_all(&mut self) {
        self.record_all(|_| Change::Written);
    }

    /// Says that every living key came into being: another database took the place of this one.
    pub(crate) fn announce_all(&mut self) {
        self.record_all(|slot| Change::Added(slot.value.kind()));
    }

    fn record_all(&mut self, change: impl Fn(&Slot) -> Change) {
        if let Some(changes) = &mut self.changes {
            let living = living(&self.slots, self.now_ms);
            changes.extend(living.map(|(key, slot)| (key.to_vec(), change(slot))));
        }
    }

    /// How many living keys there are.
    pub(crate) fn len(&self) -> usize {
        let slots = self.slots.values();
        slots.filter(|slot| !slot.is_expired(self.now_ms)).count()
    }

    /// The living keys in the order of their bytes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &Slot)> {
        living(&self.slots, self.now_ms)
    }
}

fn living(slots: &Map<Vec<u8>, Slot>, now_ms: i64) -> impl Iterator<Item = (&[u8], &Slot)> {
    let mut living: Vec<_> = slots
        .iter()
        .filter(|(_, slot)| !slot.is_expired(now_ms))
        .map(|(key, slot)| (key.as_slice(), slot))
        .collect();
    living.sort_unstable_by_key(|(key, _)| *key);
    living.into_iter()
}

impl Slot {
    fn is_expired(&self, now_ms: i64) -> bool {
        self.expires_at_ms.is_some_and(|when| now_ms > when)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::List;

    #[test]
    fn a_key_lives_through_its_last_millisecond() {
        let mut keys = Keyspace::default();
        keys.put(b"k", Value::Text(b"v".to_vec().into()));
        if let Some(slot) = keys.slot(b"k") {
            slot.expires_at_ms = Some(100);
        }
        keys.set_now(100);
        assert!(keys.contains(b"k"));
        assert_eq!(keys.len(), 1);
        keys.set_now(101);
        assert_eq!(keys.len(), 0);
        assert!(keys.take(b"k").is_none());
    }

    #[test]
    fn types_are_checked() {
        let mut keys = Keyspace::default();
        keys.put(b"k", Value::Text(b"v".to_vec().into()));
        assert_eq!(keys.find::<List>(b"k").unwrap_err(), Refusal::WrongType);
        assert!(keys.find::<List>(b"none").unwrap().is_none());
        keys.find_or_create::<List>(b"l").unwrap();
        keys.drop_if_empty(b"l");
        assert!(!keys.contains(b"l"));
    }
}
