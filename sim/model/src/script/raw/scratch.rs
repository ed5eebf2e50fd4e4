//! Memory for a string that grows, kept by Lua: nothing is lost when Lua raises an error.

use std::{ptr, slice};

use mlua::ffi;

use super::stack::{State, push_bytes};

/// A string that is put together in a userdata at a place of the stack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scratch {
    place: i32,
    start: *mut u8,
    length: usize,
    capacity: usize,
}

impl Scratch {
    /// An empty one, for a place that exists.
    pub(super) fn new(place: i32) -> Self {
        Scratch {
            place,
            start: ptr::null_mut(),
            length: 0,
            capacity: 0,
        }
    }

    /// One that has room.
    ///
    /// # Safety
    ///
    /// As [`Scratch::append`].
    pub(super) unsafe fn with_capacity(lua: State, place: i32, capacity: usize) -> Self {
        let mut new = Scratch::new(place);
        if capacity > 0 {
            new.grow(lua, capacity);
        }
        new
    }

    /// Appends bytes.
    ///
    /// # Safety
    ///
    /// The place holds nothing else, and there is a free slot. Raises when memory is refused.
    pub(super) unsafe fn append(&mut self, lua: State, bytes: &[u8]) {
        let length = self.length + bytes.len();
        if length > self.capacity {
            self.grow(lua, length.max(2 * self.capacity).max(256));
        }
        ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(self.length), bytes.len());
        self.length = length;
    }

    /// # Safety
    ///
    /// As [`Scratch::append`], and the capacity is no less than the length.
    unsafe fn grow(&mut self, lua: State, capacity: usize) {
        let start = ffi::lua_newuserdata(lua, capacity).cast::<u8>();
        ptr::copy_nonoverlapping(self.start, start, self.length);
        ffi::lua_replace(lua, self.place);
        (self.start, self.capacity) = (start, capacity);
    }

    /// Pushes the string.
    ///
    /// # Safety
    ///
    /// As [`Scratch::append`].
    pub(super) unsafe fn push(&self, lua: State) {
        match self.start.is_null() {
            true => push_bytes(lua, b""),
            false => push_bytes(lua, slice::from_raw_parts(self.start, self.length)),
        }
    }
}
