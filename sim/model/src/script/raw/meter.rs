//! What a script has done so far, and whether it has to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::heap::INSTRUCTIONS_PER_LOOK;
use crate::script::limits::{Limit, Limits, Place, Stop};

/// How long a script may run by the machine's clock. Only scripts whose single instructions are
/// very slow come to this end.
const LONGEST: Duration = Duration::from_secs(20);

/// How many bytes Lua copies, roughly, in the time of one instruction.
const BYTES_PER_INSTRUCTION: usize = 32;

/// The count of one script's work.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// In instructions, or what takes as long.
    work: AtomicU64,
    most_work: AtomicU64,
    /// Work since the last look at the clock.
    since_clock: AtomicU64,
    /// How many bytes the script had been given at the last look.
    granted: AtomicUsize,
    /// The time of the first look at the clock.
    began: Mutex<Option<Instant>>,
    /// Whether there is anything in `began`.
    timed: AtomicBool,
    /// Whether there is, or was, anything in `stop`.
    stopped: AtomicBool,
    stop: Mutex<Option<Stop>>,
}

impl Meter {
    pub(super) fn start(&self, limits: &Limits) {
        self.most_work.store(limits.instructions, Relaxed);
        for counter in [&self.work, &self.since_clock] {
            counter.store(0, Relaxed);
        }
        self.granted.store(0, Relaxed);
        if self.timed.load(Relaxed) {
            self.timed.store(false, Relaxed);
            *lock(&self.began) = None;
        }
        if self.is_stopped() {
            self.stopped.store(false, Relaxed);
            *lock(&self.stop) = None;
        }
    }

    /// Adds work that a C function does, and tells whether it is too much.
    pub(super) fn add(&self, work: u64) -> Result<(), Limit> {
        let total = self.work.load(Relaxed).saturating_add(work);
        self.work.store(total, Relaxed);
        if total >= self.most_work.load(Relaxed) {
            return Err(Limit::Instructions);
        }
        let since_clock = self.since_clock.load(Relaxed).saturating_add(work);
        self.since_clock.store(since_clock, Relaxed);
        match since_clock < INSTRUCTIONS_PER_LOOK as u64 {
            true => Ok(()),
            false => self.check_time(),
        }
    }

    /// Adds what a look finds: instructions, and memory given.
    pub(super) fn add_instructions(&self, count: u64, granted: usize) -> Result<(), Limit> {
        let given = granted.saturating_sub(self.granted.swap(granted, Relaxed));
        self.add(count + (given / BYTES_PER_INSTRUCTION) as u64)?;
        self.check_time()
    }

    /// Whether there is time left.
    pub(super) fn check_time(&self) -> Result<(), Limit> {
        self.since_clock.store(0, Relaxed);
        self.timed.store(true, Relaxed);
        let mut began = lock(&self.began);
        match began.get_or_insert_with(Instant::now).elapsed() > LONGEST {
            true => Err(Limit::Time),
            false => Ok(()),
        }
    }

    /// Notes that the script has to end, and why; the first reason counts.
    pub(super) fn stop(&self, limit: Limit, place: Option<Place>) {
        if !self.stopped.swap(true, Relaxed) {
            *lock(&self.stop) = Some(Stop { limit, place });
        }
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Relaxed)
    }

    pub(super) fn take_stop(&self) -> Option<Stop> {
        match self.is_stopped() {
            true => lock(&self.stop).take(),
            false => None,
        }
    }
}

/// What a lock guards, also after a panic: nothing here is left half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
