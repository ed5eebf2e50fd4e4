//! The map that keys, fields and members are found by.

use std::collections::HashMap;

use foldhash::fast::FixedState;

/// A hash table whose hashes are quick and always the same. Nothing may depend on the order in
/// which it iterates.
pub(crate) type Map<K, V> = HashMap<K, V, FixedState>;
