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
        let state = Self { ctx, table, memory, progress: Progress::default() };

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
    fn tick(mut store: StoreContextMut<'_, Self>, limit: Duration) -> wasmtime::Result<UpdateDeadline> {
        let state = store.data_mut();
        let progress = &mut state.progress;
        if progress.host_calls == state.ctx.host_calls {
            progress.idle_ticks += 1;
        } else {
            *progress = Progress { host_calls: state.ctx.host_calls, idle_ticks: 0 };
        }
        if TICK * progress.idle_ticks > limit {
            return Ok(UpdateDeadline::Interrupt);
        }
        // Other tasks of this thread get their turn, and a caller's timeout can fire.
        Ok(UpdateDeadline::Yield(1))
    }
}

impl View for State {
    fn leaseline(&mut self) -> CtxView<'_> {
        CtxView { ctx: &mut self.ctx, table: &mut self.table }
    }
}
