//! The values that a library reads or writes, counted: long texts are work, too.

use super::bridge::{Bridge, Stopped};
use super::stack::State;

/// How many values pass between two looks at the limits.
const VALUES_PER_LOOK: usize = 1024;

/// How many values a text may have. Lua raises an error for larger tables.
const MOST_READ: usize = 1 << 26;

/// The count of one call.
pub(super) struct Tally<'a> {
    lua: State,
    bridge: &'a Bridge,
    values: usize,
}

impl<'a> Tally<'a> {
    pub(super) fn new(lua: State, bridge: &'a Bridge) -> Self {
        Tally {
            lua,
            bridge,
            values: 0,
        }
    }

    /// Counts a value that is about to be read.
    ///
    /// # Safety
    ///
    /// As [`Bridge::charge`].
    pub(super) unsafe fn read(&mut self) -> Result<(), Stopped> {
        if !self.is_time_to_look() {
            return Ok(());
        }
        let too_many = self.values >= MOST_READ;
        self.bridge.reserve(if too_many { usize::MAX } else { 0 })?;
        self.bridge.charge(self.lua, VALUES_PER_LOOK)
    }

    /// Counts a value that is about to be written behind so many bytes: a table that contains
    /// others many times over has a huge text.
    ///
    /// # Safety
    ///
    /// As [`Bridge::charge`].
    pub(super) unsafe fn write(&mut self, written: usize) -> Result<(), Stopped> {
        if self.is_time_to_look() {
            self.bridge.charge(self.lua, VALUES_PER_LOOK)?;
        }
        self.bridge.reserve(written)
    }

    fn is_time_to_look(&mut self) -> bool {
        self.values += 1;
        self.values.is_multiple_of(VALUES_PER_LOOK)
    }
}
