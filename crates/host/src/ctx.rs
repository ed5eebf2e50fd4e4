//! What an embedder grants to a guest.

use std::collections::BTreeMap;
use std::sync::Arc;

use leaseline_core::capability::{Clock, Entropy, Redis};
use wasmtime::component::{HasData, ResourceTable};

use crate::clock::{SharedClock, TokioClock};
use crate::connection::Connection;
use crate::entropy::SystemEntropy;
use crate::limits::Limits;

/// What an embedder grants to a guest: connections by label, a clock, random bytes, limits.
///
/// A copy grants the same: it shares connections, clock and generator.
#[derive(Clone)]
pub struct Ctx {
    pub(crate) connections: BTreeMap<String, Connection>,
    pub(crate) clock: SharedClock,
    pub(crate) entropy: Arc<dyn Entropy>,
    pub(crate) limits: Limits,
    /// Calls of the guest to its host since [`Ctx::begin_call`].
    pub(crate) host_calls: u64,
}

impl Ctx {
    /// A context that grants no connection yet, Tokio's clock, and a random number generator that
    /// the operating system seeds.
    pub fn builder() -> CtxBuilder {
        CtxBuilder {
            ctx: Self {
                connections: BTreeMap::new(),
                clock: SharedClock::new(TokioClock::new()),
                entropy: Arc::new(SystemEntropy),
                limits: Limits::default(),
                host_calls: 0,
            },
        }
    }

    /// The limits that this context was built with.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Begins to count calls to the host again; see [`Limits::host_calls`].
    ///
    /// [`QueueInstance`](crate::QueueInstance) does this. Embedders that call the bindings
    /// themselves do it before each call.
    pub fn begin_call(&mut self) {
        self.host_calls = 0;
    }

    /// Counts a call to the host.
    pub(crate) fn count_host_call(&mut self) -> Result<(), TooManyHostCalls> {
        self.host_calls += 1;
        if self.host_calls > self.limits.host_calls {
            return Err(TooManyHostCalls(self.limits.host_calls));
        }
        Ok(())
    }
}

/// The guest made more calls to its host than [`Limits::host_calls`]; it is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the component made more than {0} calls to its host during one call")]
pub(crate) struct TooManyHostCalls(u64);

/// Makes a [`Ctx`].
#[must_use]
pub struct CtxBuilder {
    ctx: Ctx,
}

impl CtxBuilder {
    /// Grants a Redis under a label. A second one of the same label replaces the first.
    pub fn redis(mut self, label: impl Into<String>, redis: impl Redis + 'static) -> Self {
        self.ctx
            .connections
            .insert(label.into(), Connection::new(redis));
        self
    }

    /// Replaces the clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.ctx.clock = SharedClock::new(clock);
        self
    }

    /// Replaces the random number generator. Ids must not be guessable outside of tests.
    pub fn entropy(mut self, entropy: impl Entropy + 'static) -> Self {
        self.ctx.entropy = Arc::new(entropy);
        self
    }

    /// Replaces the limits.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.ctx.limits = limits;
        self
    }

    /// The context.
    pub fn build(self) -> Ctx {
        self.ctx
    }
}

/// How this crate reaches its part of the data in an embedder's store.
pub trait View: Send {
    /// The context, and the table that holds the guest's resources.
    fn leaseline(&mut self) -> CtxView<'_>;
}

/// What [`View::leaseline`] gives.
pub struct CtxView<'a> {
    /// What the guest is granted.
    pub ctx: &'a mut Ctx,
    /// The guest's resources. Its capacity bounds them: see
    /// [`ResourceTable::set_max_capacity`] and [`Limits::resources`].
    pub table: &'a mut ResourceTable,
}

/// Tells wasmtime that host functions work on a [`CtxView`].
pub(crate) struct HasCtx;

impl HasData for HasCtx {
    type Data<'a> = CtxView<'a>;
}

/// Tells wasmtime that host functions work on the table alone.
pub(crate) struct HasTable;

impl HasData for HasTable {
    type Data<'a> = &'a mut ResourceTable;
}
