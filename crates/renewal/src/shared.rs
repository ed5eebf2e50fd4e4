//! What a worker's task, its restarts and its handles have in common.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leaseline_core::renewal::{Settings, Table, Token};
use leaseline_core::{Error, ErrorKind};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::command::Command;
use crate::guard::Guard;
use crate::run::run;
use crate::schedule::Schedule;
use crate::state::State;

/// Runtimes that are remembered for a worker whose own one ends.
const MAX_RUNTIMES: usize = 64;

/// Tokens are not used twice in a process.
static TOKENS: AtomicU64 = AtomicU64::new(1);

pub(crate) struct Shared {
    pub(crate) settings: Settings,
    epoch: Instant,
    /// The process that it was made in.
    pub(crate) process: AtomicU32,
    state: Mutex<State>,
    pub(crate) wake: Notify,
    pub(crate) closed: AtomicBool,
    pub(crate) restarts: AtomicU64,
}

impl Shared {
    pub(crate) fn new(settings: Settings) -> Arc<Self> {
        let table = Table::new(settings.clone(), u64::from(std::process::id()));
        Self::deciding(settings, Box::new(table))
    }

    pub(crate) fn deciding(settings: Settings, table: Box<dyn Schedule>) -> Arc<Self> {
        let process = std::process::id();
        Arc::new(Self {
            settings,
            epoch: Instant::now(),
            process: AtomicU32::new(process),
            state: Mutex::new(State::new(table)),
            wake: Notify::new(),
            closed: AtomicBool::new(false),
            restarts: AtomicU64::new(0),
        })
    }

    pub(crate) fn mint() -> Token {
        Token(TOKENS.fetch_add(1, Ordering::Relaxed))
    }

    /// The state is whole between statements, so a panic elsewhere does not spoil it.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(crate) fn at(&self, ms: u64) -> Option<Instant> {
        self.epoch.checked_add(Duration::from_millis(ms))
    }

    /// Whether this process was forked off the one that has the worker. What the parent's threads
    /// held at that moment is held for ever here, so nothing of it may be touched.
    pub(crate) fn is_forked(&self) -> bool {
        self.process.load(Ordering::Relaxed) != std::process::id()
    }

    /// Starts the worker on the runtime of the caller, unless it runs.
    pub(crate) fn ensure(self: &Arc<Self>) -> Result<Handle, Error> {
        if self.is_forked() {
            return Err(Error::new(
                ErrorKind::Configuration,
                "this process was forked after its lease renewals were made, and their worker is in the parent; make them anew here",
            ));
        }
        let Ok(here) = Handle::try_current() else {
            return Err(Error::new(
                ErrorKind::Configuration,
                "leases are renewed on a tokio runtime, and there is none here; call it in one",
            ));
        };
        let guard = {
            let mut state = self.state();
            if !state.runtimes.iter().any(|known| known.id() == here.id()) {
                if state.runtimes.len() == MAX_RUNTIMES {
                    state.runtimes.remove(0);
                }
                state.runtimes.push(here.clone());
            }
            if state.running.is_some() {
                return Ok(here);
            }
            Guard::new(self, &mut state)
        };
        here.spawn(run(guard));
        Ok(here)
    }

    /// Queues a command, or refuses it at once.
    pub(crate) fn submit(&self, command: Command) -> Result<(), Error> {
        let mut state = self.state();
        if state.commands.len() >= self.settings.command_capacity {
            return Err(Error::new(
                ErrorKind::Backpressure,
                "lease extension worker command buffer is full; try again when it has caught up",
            ));
        }
        state.commands.push_back(command);
        drop(state);
        self.wake.notify_one();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn invariant_10_no_token_is_used_twice_in_a_process(threads in 1..6_usize, each in 1..200_usize) {
            let minting: Vec<_> = (0..threads)
                .map(|_| std::thread::spawn(move || (0..each).map(|_| Shared::mint()).collect::<Vec<_>>()))
                .collect();
            let mut tokens = HashSet::new();
            for minted in minting {
                tokens.extend(minted.join().unwrap());
            }
            prop_assert_eq!(tokens.len(), threads * each);
        }
    }
}
