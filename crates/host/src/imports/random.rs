//! `wasi:random/random` over [`Ctx`](crate::Ctx)'s generator.

use wasmtime::bail;
use wasmtime_wasi::p2::bindings::random::random::Host;

use crate::ctx::CtxView;

/// More random bytes at once than any id has.
const MAX_BYTES: u64 = 64 << 10;

impl Host for CtxView<'_> {
    fn get_random_bytes(&mut self, len: u64) -> wasmtime::Result<Vec<u8>> {
        self.ctx.count_host_call()?;
        if len > MAX_BYTES {
            bail!("the component asked for {len} random bytes; the limit is {MAX_BYTES}");
        }
        let mut bytes = vec![0; len as usize];
        self.ctx.entropy.fill(&mut bytes);
        Ok(bytes)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.ctx.count_host_call()?;
        let mut bytes = [0; 8];
        self.ctx.entropy.fill(&mut bytes);
        Ok(u64::from_le_bytes(bytes))
    }
}
