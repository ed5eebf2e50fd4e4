//! The memory of a Lua state: what it uses, and when it may not have more.
//!
//! Lua asks one function for all its memory. Ours passes the question on to `mlua`'s, keeps count,
//! and says no where a script would use more than it may. Lua then raises an error that no error
//! handler of a script sees. It does so from within nearly any function of its interface, by
//! `longjmp`. So the limit holds only while a script runs and no Rust value is at stake: see
//! [`Heap::relax`]. At all other times a request is granted or, when the machine itself has no
//! memory left, ends the process as it does everywhere in Rust.

use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

use mlua::ffi;

use super::bridge::Bridge;
use super::look::look;
use super::stack::State;

/// A block of this size makes single instructions slow: comparing two strings, say.
const LARGE: usize = 1 << 16;

/// How many instructions pass between two looks at the limits.
pub(super) const INSTRUCTIONS_PER_LOOK: i32 = 100_000;

/// The most that a script gets between two looks.
const GRANTED_PER_LOOK: usize = 16 << 20;

/// The count of one Lua state's memory, in bytes.
#[derive(Debug, Default)]
pub(super) struct Heap {
    original: OnceLock<Original>,
    /// Now in use.
    used: AtomicUsize,
    /// What `used` may not exceed now.
    ceiling: AtomicUsize,
    /// What `ceiling` is while the limit holds.
    limit: AtomicUsize,
    /// All that the running script was ever given.
    granted: AtomicUsize,
    /// The amount of `granted` at which to look at the limits.
    next_look: AtomicUsize,
    /// The largest block that the running script was given.
    largest: AtomicUsize,
    /// The amount of `used` at which to collect garbage.
    collect_at: AtomicUsize,
    /// The thread of Lua that runs now: a script's own or a coroutine's.
    running: AtomicPtr<ffi::lua_State>,
}

/// The function that `mlua` gave to Lua.
#[derive(Debug)]
struct Original {
    allocate: ffi::lua_Alloc,
    data: AtomicPtr<c_void>,
}

impl Heap {
    /// Makes `bridge`, with its heap, what Lua asks for memory.
    ///
    /// # Safety
    ///
    /// `bridge` outlives the Lua state, or [`Heap::uninstall`] is called.
    pub(super) unsafe fn install(bridge: &Bridge, lua: State) {
        let heap = &bridge.heap;
        let mut data = ptr::null_mut();
        let allocate = ffi::lua_getallocf(lua, &raw mut data);
        let used = ffi::lua_gc(lua, ffi::LUA_GCCOUNT, 0) as usize * 1024
            + ffi::lua_gc(lua, ffi::LUA_GCCOUNTB, 0) as usize;
        heap.used.store(used, Relaxed);
        heap.relax();
        let data = AtomicPtr::new(data);
        // A bridge belongs to one state, so nothing was there before.
        let _ = heap.original.set(Original { allocate, data });
        ffi::lua_setallocf(
            lua,
            allocate_counted,
            ptr::from_ref(bridge).cast_mut().cast(),
        );
    }

    /// Gives the state back to `mlua`, which has to free what it gave.
    ///
    /// # Safety
    ///
    /// `lua` is the state of [`Heap::install`].
    pub(super) unsafe fn uninstall(&self, lua: State) {
        if let Some(original) = self.original.get() {
            ffi::lua_setallocf(lua, original.allocate, original.data.load(Relaxed));
        }
    }

    /// Lets the limit begin to hold, for a script that may add `limit` bytes to what is there.
    pub(super) fn start(&self, lua: State, limit: usize) {
        self.running.store(lua, Relaxed);
        self.limit.store(self.used().saturating_add(limit), Relaxed);
        self.granted.store(0, Relaxed);
        self.largest.store(0, Relaxed);
        self.next_look.store(self.step(), Relaxed);
    }

    /// Ends what [`Heap::start`] began.
    pub(super) fn end(&self) {
        self.relax();
        self.running.store(ptr::null_mut(), Relaxed);
    }

    fn step(&self) -> usize {
        (self.limit.load(Relaxed) / 16).clamp(LARGE, GRANTED_PER_LOOK)
    }

    /// Grants everything until [`Heap::enforce`]: Rust values are alive, which an error raised by
    /// Lua would leave behind.
    pub(super) fn relax(&self) {
        self.ceiling.store(usize::MAX, Relaxed);
    }

    /// Ends what [`Heap::relax`] began.
    pub(super) fn enforce(&self) {
        self.ceiling.store(self.limit.load(Relaxed), Relaxed);
    }

    /// Refuses the next request, which makes Lua raise an error.
    pub(super) fn refuse_next(&self) {
        self.ceiling.store(0, Relaxed);
    }

    /// Whether a script that is about to use `more` would use too much.
    pub(super) fn is_over(&self, more: usize) -> bool {
        self.used().saturating_add(more) > self.limit.load(Relaxed)
    }

    pub(super) fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// Tells which thread of Lua runs from now on.
    pub(super) fn switch_to(&self, lua: State) {
        self.running.store(lua, Relaxed);
    }

    /// What the script was given so far. The next look is due after as much again as may pass
    /// between two.
    pub(super) fn granted(&self) -> usize {
        let granted = self.granted.load(Relaxed);
        self.next_look
            .store(granted.saturating_add(self.step()), Relaxed);
        granted
    }

    /// After how many instructions to look next.
    pub(super) fn instructions_per_look(&self) -> i32 {
        let largest = self.largest.load(Relaxed).max(LARGE);
        let count = INSTRUCTIONS_PER_LOOK as usize * LARGE / largest;
        i32::try_from(count)
            .unwrap_or(INSTRUCTIONS_PER_LOOK)
            .max(10)
    }

    /// Whether there is so much garbage that Lua's own steps do not keep up.
    pub(super) fn wants_collection(&self) -> bool {
        self.used() > self.collect_at.load(Relaxed)
    }

    /// Notes that the garbage is gone.
    pub(super) fn collected(&self, limit: usize) {
        let next = self.used().saturating_mul(2).max(limit / 4);
        self.collect_at.store(next, Relaxed);
    }

    /// Counts a request for more. False refuses it.
    fn grant(&self, more: usize, block: usize) -> bool {
        let used = self.used().saturating_add(more);
        if used > self.ceiling.load(Relaxed) {
            return false;
        }
        self.used.store(used, Relaxed);
        let granted = self.granted.load(Relaxed).saturating_add(more);
        self.granted.store(granted, Relaxed);
        if granted >= self.next_look.load(Relaxed)
            || block > LARGE && block > self.largest.load(Relaxed)
        {
            self.call_for_a_look(block);
        }
        true
    }

    #[cold]
    fn call_for_a_look(&self, block: usize) {
        self.largest.fetch_max(block, Relaxed);
        let running = self.running.load(Relaxed);
        if !running.is_null() {
            // SAFETY: this thread of Lua runs now, and setting a hook is allowed at any time: it
            // is what signal handlers of Lua's own interpreter do.
            unsafe { ffi::lua_sethook(running, Some(look), ffi::LUA_MASKCOUNT, 1) };
        }
    }
}

/// What Lua asks for memory.
unsafe extern "C" fn allocate_counted(
    bridge: *mut c_void,
    block: *mut c_void,
    old: usize,
    new: usize,
) -> *mut c_void {
    let bridge = &*bridge.cast::<Bridge>();
    let heap = &bridge.heap;
    let Some(original) = heap.original.get() else {
        return ptr::null_mut();
    };
    if new > old {
        if !heap.grant(new - old, new) {
            bridge.refused_memory();
            return ptr::null_mut();
        }
    } else {
        heap.used
            .store(heap.used().saturating_sub(old - new), Relaxed);
    }
    (original.allocate)(original.data.load(Relaxed), block, old, new)
}
