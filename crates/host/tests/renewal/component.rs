//! The component's table, as core's.

use std::sync::OnceLock;

use leaseline_component::COMPONENT;
use leaseline_core::renewal::{
    Action, Counts, Failure, First, Lost, Outcome, Settings, Start, Started, Stopping, Token,
};
use leaseline_renewal::Schedule;
use leaseline_wasmtime::bindings::exports::leaseline::queue::renewal as wit;
use leaseline_wasmtime::{Ctx, CtxView, Limits, View, add_redis_to_linker, bindings};
use wasmtime::component::{Component, Linker, ResourceAny, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::support::{ModelRedis, ctx};
use crate::world::at_once;

pub(crate) struct HostState {
    leaseline: Ctx,
    wasi: WasiCtx,
    table: ResourceTable,
}

impl View for HostState {
    fn leaseline(&mut self) -> CtxView<'_> {
        CtxView {
            ctx: &mut self.leaseline,
            table: &mut self.table,
        }
    }
}

impl WasiView for HostState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// Compiled once for all tests of a process.
fn compiled() -> &'static (Engine, Component) {
    static COMPILED: OnceLock<(Engine, Component)> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let engine = Engine::new(&Config::new()).unwrap();
        let component = Component::from_binary(&engine, COMPONENT).unwrap();
        (engine, component)
    })
}

pub(crate) async fn instance() -> (Store<HostState>, bindings::Component) {
    let (engine, component) = compiled();
    let mut linker = Linker::<HostState>::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
    add_redis_to_linker(&mut linker).unwrap();
    let state = HostState {
        leaseline: ctx(ModelRedis::new(), Limits::default()),
        wasi: WasiCtx::builder().build(),
        table: ResourceTable::new(),
    };
    let mut store = Store::new(engine, state);
    let instance = bindings::Component::instantiate_async(&mut store, component, &linker)
        .await
        .unwrap();
    (store, instance)
}

fn action(action: &wit::Action) -> Action {
    match action {
        wit::Action::Extend(extension) => Action::Extend {
            token: Token(extension.token),
            lease_ms: extension.lease_ms,
        },
        wit::Action::Stopped(token) => Action::Stopped {
            token: Token(*token),
        },
        wit::Action::StopTimedOut(token) => Action::StopTimedOut {
            token: Token(*token),
        },
        wit::Action::Lost(loss) => Action::Lost {
            token: Token(loss.token),
            why: match loss.why {
                wit::Lost::Refused => Lost::Refused,
                wit::Lost::LongestTime => Lost::LongestTime,
            },
        },
    }
}

fn outcome(outcome: Outcome) -> wit::Outcome {
    match outcome {
        Ok(()) => wit::Outcome::Extended,
        Err(Failure::Gone) => wit::Outcome::Gone,
        Err(Failure::Refused) => wit::Outcome::Refused,
        Err(Failure::Throttled(hint_ms)) => wit::Outcome::Throttled(hint_ms),
        Err(Failure::Connection) => wit::Outcome::Connection,
        Err(Failure::Transient) => wit::Outcome::Transient,
        Err(_) => wit::Outcome::Unexpected,
    }
}

/// The settings that the interface has.
pub(crate) fn settings(settings: &Settings) -> wit::Settings {
    wit::Settings {
        default_lease_ms: settings.default_lease_ms,
        min_lease_ms: settings.min_lease_ms,
        max_lease_ms: settings.max_lease_ms,
        renewals_per_lease: settings.renewals_per_lease,
        min_interval_ms: settings.min_interval_ms,
        max_interval_ms: settings.max_interval_ms,
        deadline_grace_ms: settings.deadline_grace_ms,
        due_now_delay_ms: settings.due_now_delay_ms,
        retry_delay_ms: settings.retry_delay_ms,
        min_throttle_ms: settings.min_throttle_ms,
        jitter_percent: settings.jitter_percent,
        default_retry_after_ms: settings.default_retry_after_ms,
        stopped_memory: u32::try_from(settings.stopped_memory).unwrap(),
        stop_timeout_ms: settings.stop_timeout_ms,
    }
}

/// A table in an instance of its own. Its calls end at once: it has no timers and no connection.
pub(crate) struct ComponentTable {
    store: Store<HostState>,
    component: bindings::Component,
    table: ResourceAny,
}

/// One call of the table.
macro_rules! call {
    ($self:ident.$call:ident($($argument:expr),*)) => {{
        let Self { store, component, table } = $self;
        let table_of = component.leaseline_queue_renewal().table();
        let calling = table_of.$call(&mut *store, *table, $($argument),*);
        at_once(std::pin::pin!(calling)).expect("it waits for nothing").unwrap()
    }};
}

impl ComponentTable {
    pub(crate) fn open(given: &Settings, seed: u64) -> Self {
        let opening = async {
            let (mut store, component) = instance().await;
            let tables = component.leaseline_queue_renewal().table();
            let opened = tables.call_open(&mut store, settings(given), seed).await;
            let table = opened.unwrap().unwrap();
            Self {
                store,
                component,
                table,
            }
        };
        at_once(std::pin::pin!(opening)).expect("it waits for nothing")
    }
}

impl Schedule for ComponentTable {
    fn start(&mut self, now_ms: u64, start: &Start) -> Started {
        let start = wit::Start {
            token: start.token.0,
            lease_ms: start.lease_ms,
            interval_ms: start.interval_ms,
            first: match start.first {
                First::EndsIn(left) => wit::First::EndsIn(left),
                First::Granted(granted) => wit::First::Granted(granted),
            },
            align_ms: start.align_ms,
            longest_ms: start.longest_ms,
        };
        match call!(self.call_start(now_ms, start)) {
            wit::Started::Scheduled => Started::Scheduled,
            wit::Started::StoppedBefore => Started::StoppedBefore,
            wit::Started::Duplicate => Started::Duplicate,
        }
    }

    fn stop(&mut self, now_ms: u64, token: Token, wait: bool) -> Stopping {
        match call!(self.call_stop(now_ms, token.0, wait)) {
            wit::Stopping::Done => Stopping::Done,
            wit::Stopping::Waiting => Stopping::Waiting,
            wit::Stopping::Cancel => Stopping::Cancel,
        }
    }

    fn poll(&mut self, now_ms: u64, max: usize) -> Vec<Action> {
        let max = u32::try_from(max).unwrap_or(u32::MAX);
        let actions = call!(self.call_poll(now_ms, max));
        actions.iter().map(action).collect()
    }

    fn finished(&mut self, now_ms: u64, token: Token, ended: Outcome) -> Option<Action> {
        call!(self.call_finished(now_ms, token.0, outcome(ended)))
            .as_ref()
            .map(action)
    }

    fn recover(&mut self, now_ms: u64) -> Vec<Action> {
        call!(self.call_recover(now_ms))
            .iter()
            .map(action)
            .collect()
    }

    fn next_due_ms(&mut self) -> Option<u64> {
        call!(self.call_next_due_ms())
    }

    fn counts(&mut self) -> Counts {
        let told = call!(self.call_counts());
        let mut counts = Counts::default();
        counts.active = told.active;
        counts.in_flight = told.in_flight;
        counts.extended = told.extended;
        counts.refused = told.refused;
        counts.throttled = told.throttled;
        counts.transient = told.transient;
        counts.unexpected = told.unexpected;
        counts.capped = told.capped;
        counts.stop_timeouts = told.stop_timeouts;
        counts.lag = told.lag.try_into().unwrap();
        counts.max_lag_ms = told.max_lag_ms;
        counts
    }
}
