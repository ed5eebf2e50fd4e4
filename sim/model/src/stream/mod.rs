//! Streams: a log of entries and the groups that read it.

mod group;
mod id;
mod log;
mod node;
mod radix_tree;

use std::collections::BTreeMap;

pub(crate) use group::{Group, Pending};
pub(crate) use id::{NewId, StreamId};
pub(crate) use log::{Keep, Log, NotAdded, Trim};
pub(crate) use node::{MOST_ENTRIES, StreamEntry};

/// A stream value. It may be empty: its last id outlives its entries.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    pub(crate) log: Log,
    pub(crate) groups: BTreeMap<Vec<u8>, Group>,
}
