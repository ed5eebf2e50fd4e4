//! The component's renewal table and the native one are the same table.

mod support;

use leaseline_component::COMPONENT;
use leaseline_core::renewal::{
    self, Action, Failure, First, Lost, Settings, Start, Started, Stopping, Token,
};
use leaseline_wasmtime::bindings::exports::leaseline::queue::renewal as wit;
use leaseline_wasmtime::{Ctx, CtxView, Limits, View, add_redis_to_linker, bindings};
use support::{ModelRedis, ctx};
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Config, Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

struct HostState {
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

async fn instance() -> (Store<HostState>, bindings::Component) {
    let engine = Engine::new(&Config::new()).unwrap();
    let mut linker = Linker::<HostState>::new(&engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
    add_redis_to_linker(&mut linker).unwrap();
    let state = HostState {
        leaseline: ctx(ModelRedis::new(), Limits::default()),
        wasi: WasiCtx::builder().build(),
        table: ResourceTable::new(),
    };
    let mut store = Store::new(&engine, state);
    let component = Component::from_binary(&engine, COMPONENT).unwrap();
    let instance = bindings::Component::instantiate_async(&mut store, &component, &linker)
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

fn outcome(kind: u64) -> (wit::Outcome, Result<(), Failure>) {
    match kind {
        0 => (wit::Outcome::Gone, Err(Failure::Gone)),
        1 => (wit::Outcome::Refused, Err(Failure::Refused)),
        2 => (
            wit::Outcome::Throttled(Some(4_000)),
            Err(Failure::Throttled(Some(4_000))),
        ),
        3 => (wit::Outcome::Throttled(None), Err(Failure::Throttled(None))),
        4 => (wit::Outcome::Connection, Err(Failure::Connection)),
        5 => (wit::Outcome::Transient, Err(Failure::Transient)),
        6 => (wit::Outcome::Unexpected, Err(Failure::Unexpected)),
        _ => (wit::Outcome::Extended, Ok(())),
    }
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

#[tokio::test]
async fn random_commands_have_the_same_answers() {
    let (mut store, instance) = instance().await;
    let interface = instance.leaseline_queue_renewal();
    let settings = interface.call_default_settings(&mut store).await.unwrap();
    let opened = interface.table().call_open(&mut store, settings, 7).await;
    let there = opened.unwrap().unwrap();
    let table = interface.table();
    let mut here = renewal::Table::new(Settings::default(), 7);
    let (mut dice, mut now, mut extensions, mut losses) = (Dice(0x5eed), 0, 0, 0);
    for _ in 0..3_000 {
        let token = dice.below(20);
        match dice.below(8) {
            0 | 1 => {
                let lease_ms = 30_000 + dice.below(400_000);
                let longest_ms = (dice.below(4) == 0).then(|| dice.below(200_000));
                let align_ms = dice.below(3) * 500;
                let started = table.call_start(
                    &mut store,
                    there,
                    now,
                    wit::Start {
                        token,
                        lease_ms,
                        interval_ms: None,
                        first: wit::First::Granted(lease_ms),
                        align_ms,
                        longest_ms,
                    },
                );
                let want = here.start(
                    now,
                    &Start {
                        token: Token(token),
                        lease_ms,
                        interval_ms: None,
                        first: First::Granted(lease_ms),
                        align_ms,
                        longest_ms,
                    },
                );
                let started = match started.await.unwrap() {
                    wit::Started::Scheduled => Started::Scheduled,
                    wit::Started::StoppedBefore => Started::StoppedBefore,
                    wit::Started::Duplicate => Started::Duplicate,
                };
                assert_eq!(started, want);
            }
            2 => {
                let wait = dice.below(2) == 0;
                let stopping = table.call_stop(&mut store, there, now, token, wait).await;
                let stopping = match stopping.unwrap() {
                    wit::Stopping::Done => Stopping::Done,
                    wit::Stopping::Waiting => Stopping::Waiting,
                    wit::Stopping::Cancel => Stopping::Cancel,
                };
                assert_eq!(stopping, here.stop(now, Token(token), wait));
            }
            3 | 4 => {
                let actions = table.call_poll(&mut store, there, now, 3).await.unwrap();
                let actions: Vec<Action> = actions.iter().map(action).collect();
                assert_eq!(actions, here.poll(now, 3));
                let extend = |action: &&Action| matches!(action, Action::Extend { .. });
                extensions += actions.iter().filter(extend).count();
            }
            5 | 6 => {
                let (given, want) = outcome(dice.below(12));
                let ended = table
                    .call_finished(&mut store, there, now, token, given)
                    .await;
                let ended = ended.unwrap().as_ref().map(action);
                assert_eq!(ended, here.finished(now, Token(token), want));
                losses += usize::from(matches!(ended, Some(Action::Lost { .. })));
            }
            _ if dice.below(20) == 0 => {
                let actions = table.call_recover(&mut store, there, now).await.unwrap();
                let actions: Vec<Action> = actions.iter().map(action).collect();
                assert_eq!(actions, here.recover(now));
            }
            _ => now += dice.below(20_000),
        }
        let due = table.call_next_due_ms(&mut store, there).await.unwrap();
        assert_eq!(due, here.next_due_ms());
    }
    assert!(extensions > 100 && losses > 5, "{extensions}, {losses}");
}

#[tokio::test]
async fn durations_have_the_same_rule() {
    let (mut store, instance) = instance().await;
    let interface = instance.leaseline_queue_renewal();
    let settings = interface.call_default_settings(&mut store).await.unwrap();
    let native = Settings::default();
    for seconds in [
        f64::NAN,
        f64::NEG_INFINITY,
        -0.5,
        -0.0,
        0.5,
        1.9,
        29.0,
        3600.0,
        3600.0001,
    ] {
        let there = interface.call_visibility_seconds(&mut store, settings, seconds);
        let here = renewal::visibility_seconds(&native, seconds, "duration");
        let here = here.map_err(|error| error.to_string());
        assert_eq!(there.await.unwrap(), here, "{seconds}");
        let there = interface.call_lease_seconds(&mut store, settings, Some(seconds));
        let here = renewal::lease_seconds(&native, Some(seconds), "lease_duration");
        let here = here.map_err(|error| error.to_string());
        assert_eq!(there.await.unwrap(), here, "{seconds}");
    }
}
