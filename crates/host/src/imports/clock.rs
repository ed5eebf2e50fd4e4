//! `wasi:clocks/monotonic-clock` over [`Ctx`](crate::Ctx)'s clock.
//!
//! `wasmtime-wasi` has this too, but there a timer always waits for Tokio's clock. Here a simulator
//! can give the guest its own time.

use wasmtime::component::Resource;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock::{Duration, Host, Instant};
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};

use crate::clock::SharedClock;
use crate::ctx::CtxView;

const NANOSECONDS: u64 = 1_000_000;

impl Host for CtxView<'_> {
    fn now(&mut self) -> wasmtime::Result<Instant> {
        self.ctx.count_host_call()?;
        Ok(self.ctx.clock.now_ms().saturating_mul(NANOSECONDS))
    }

    fn resolution(&mut self) -> wasmtime::Result<Duration> {
        self.ctx.count_host_call()?;
        Ok(NANOSECONDS)
    }

    fn subscribe_instant(&mut self, when: Instant) -> wasmtime::Result<Resource<DynPollable>> {
        self.ctx.count_host_call()?;
        self.timer(when.div_ceil(NANOSECONDS))
    }

    fn subscribe_duration(&mut self, when: Duration) -> wasmtime::Result<Resource<DynPollable>> {
        self.ctx.count_host_call()?;
        let now = self.ctx.clock.now_ms();
        self.timer(now.saturating_add(when.div_ceil(NANOSECONDS)))
    }
}

impl CtxView<'_> {
    fn timer(&mut self, until_ms: u64) -> wasmtime::Result<Resource<DynPollable>> {
        let timer = self.table.push(Timer {
            clock: self.ctx.clock.clone(),
            until_ms,
        })?;
        subscribe(self.table, timer)
    }
}

/// Ready from a point in time on.
struct Timer {
    clock: SharedClock,
    until_ms: u64,
}

#[async_trait]
impl Pollable for Timer {
    async fn ready(&mut self) {
        // A clock may wake somewhat early.
        loop {
            let left = self.until_ms.saturating_sub(self.clock.now_ms());
            if left == 0 {
                return;
            }
            self.clock.sleep_ms(left).await;
        }
    }
}
