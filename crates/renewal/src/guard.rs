//! What happens when the worker's task ends.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::run::run;
use crate::shared::Shared;
use crate::state::State;

/// How long a worker rests that follows one that crashed, lest a defect becomes a busy loop.
const REST: Duration = Duration::from_millis(100);

/// Held by the task of a worker. When it is dropped and the worker is still wanted, another one
/// begins where this one ended: here after a crash, on another runtime after the end of this one.
/// The end of an old worker does not touch a newer one.
pub(crate) struct Guard {
    pub(crate) shared: Arc<Shared>,
    generation: u64,
    pub(crate) rest: Duration,
    /// Its task was polled. One that is dropped before that was put on a runtime that has ended.
    pub(crate) began: bool,
}

impl Guard {
    pub(crate) fn new(shared: &Arc<Shared>, state: &mut State) -> Self {
        state.generation += 1;
        state.running = Some(state.generation);
        Self {
            shared: Arc::clone(shared),
            generation: state.generation,
            rest: Duration::ZERO,
            began: false,
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.shared.is_forked() {
            return;
        }
        // A panic may also be what ends the whole runtime.
        let crashed = self.began && std::thread::panicking();
        let (mut next, runtime) = {
            let mut state = self.shared.state();
            if state.running != Some(self.generation) {
                return;
            }
            state.running = None;
            if self.shared.closed.load(Ordering::Relaxed) {
                return;
            }
            let runtime = match Handle::try_current() {
                Ok(here) if crashed => Some(here),
                Ok(ended) => {
                    state.runtimes.retain(|known| known.id() != ended.id());
                    state.runtimes.pop()
                }
                Err(_) => state.runtimes.pop(),
            };
            let Some(runtime) = runtime else {
                return;
            };
            (Guard::new(&self.shared, &mut state), runtime)
        };
        if crashed {
            tracing::warn!("the lease renewal worker crashed and is started again");
            next.rest = REST;
        }
        self.shared.restarts.fetch_add(1, Ordering::Relaxed);
        // On a runtime that has ended too this drops the next guard, which goes on to another one.
        runtime.spawn(run(next));
    }
}

#[cfg(test)]
mod tests {
    use leaseline_core::renewal::Settings;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whichever of the old ones ends when.
        #[test]
        fn invariant_22_the_end_of_an_old_worker_does_not_touch_a_newer_one(
            order in Just((0..8_u64).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let shared = Shared::new(Settings::default());
            let mut guards: Vec<Option<Guard>> = (0..9)
                .map(|_| Some(Guard::new(&shared, &mut shared.state())))
                .collect();
            for old in order {
                drop(guards[old as usize].take());
                prop_assert_eq!(shared.state().running, Some(9));
                prop_assert_eq!(shared.restarts.load(Ordering::Relaxed), 0);
            }
            drop(guards);
            prop_assert_eq!(shared.state().running, None);
        }
    }
}
