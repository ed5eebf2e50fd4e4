//! What lies in the store beside an instance.

use std::time::Duration;

use wasmtime::component::ResourceTable;
use wasmtime::{Engine, Store, StoreContextMut, UpdateDeadline};

use crate::ctx::{Ctx, CtxView, View};
use crate::limits::MemoryLimit;
use crate::ticker::TICK;

/// What lies in the store beside an instance.
pub(crate) struct State {
    ctx: Ctx,
    table: ResourceTable,
    memory: MemoryLimit,
    progress: Progress,
}

/// When the guest was last seen to call its host.
#[derive(Default)]
struct Progress {
    host_calls: u64,
    idle_ticks: u32,
}

impl State {
    /// A store with the context's limits in force.
    pub(crate) fn store(engine: &Engine, ctx: Ctx) -> Store<Self> {
        let limits = ctx.limits().clone();
        let mut table = ResourceTable::new();
        table.set_max_capacity(limits.resources);
        let memory = MemoryLimit::new(&limits);
        let state = Self {
            ctx,
            table,
            memory,
            progress: Progress::default(),
        };

        let mut store = Store::new(engine, state);
        store.limiter(|state| &mut state.memory);
        store.set_hostcall_fuel(limits.transfer_bytes);
        match limits.compute {
            Some(limit) => {
                store.set_epoch_deadline(1);
                store.epoch_deadline_callback(move |store| Self::tick(store, limit));
            }
            // As far away as epochs go; wasmtime adds it to the current one.
            None => store.set_epoch_deadline(u64::MAX / 2),
        }
        store
    }

    /// Begins a call of the guest: everything that is counted by call starts again.
    pub(crate) fn begin_call(&mut self) {
        self.ctx.begin_call();
        self.progress = Progress::default();
    }

    /// Whether the guest was refused memory.
    pub(crate) fn was_refused_memory(&self) -> bool {
        self.memory.has_refused()
    }

    /// The guest computes and a tick has passed. Time that a call waits for Redis does not count:
    /// the guest makes progress by calling its host.
    fn tick(
        mut store: StoreContextMut<'_, Self>,
        limit: Duration,
    ) -> wasmtime::Result<UpdateDeadline> {
        let state = store.data_mut();
        let progress = &mut state.progress;
        if progress.host_calls == state.ctx.host_calls {
            progress.idle_ticks += 1;
        } else {
            *progress = Progress {
                host_calls: state.ctx.host_calls,
                idle_ticks: 0,
            };
        }
        if TICK * progress.idle_ticks > limit {
            return Ok(UpdateDeadline::Interrupt);
        }
        // Other tasks of this thread get their turn.
        Ok(UpdateDeadline::Yield(1))
    }
}

impl View for State {
    fn leaseline(&mut self) -> CtxView<'_> {
        CtxView {
            ctx: &mut self.ctx,
            table: &mut self.table,
        }
    }
}

#[cfg(test)]
mod tests {
    use leaseline_core::capability::Clock;
    use wasmtime::{Config, Instance, Module, Trap};

    use super::*;
    use crate::ticker;

    /// A module that never ends.
    const SPIN: &str = r#"(module (func (export "spin") (loop (br 0))))"#;

    /// A clock that nobody asks.
    struct NoClock;

    impl Clock for NoClock {
        fn now_ms(&self) -> u64 {
            0
        }

        async fn sleep_ms(&self, _ms: u64) {}
    }

    #[tokio::test]
    async fn a_guest_that_computes_without_end_is_stopped_and_yields_meanwhile() {
        let mut config = Config::new();
        config.concurrency_support(false).epoch_interruption(true);
        let engine = Engine::new(&config).unwrap();
        ticker::start(&engine).unwrap();
        let limits = crate::Limits {
            compute: Some(TICK * 4),
            ..Default::default()
        };
        let ctx = Ctx::builder().clock(NoClock).limits(limits).build();
        let mut store = State::store(&engine, ctx);
        let module = Module::new(&engine, wat::parse_str(SPIN).unwrap()).unwrap();
        let instance = Instance::new_async(&mut store, &module, &[]).await.unwrap();
        let spin = instance
            .get_typed_func::<(), ()>(&mut store, "spin")
            .unwrap();

        let others = tokio::spawn(async {
            for _ in 0..3 {
                tokio::task::yield_now().await;
            }
        });
        let error = spin.call_async(&mut store, ()).await.unwrap_err();
        assert_eq!(error.downcast_ref(), Some(&Trap::Interrupt));
        assert!(others.is_finished(), "the guest starved its neighbours");
    }
}
