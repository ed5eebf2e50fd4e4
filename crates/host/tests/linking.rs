//! The component beside other guests of a host.

mod support;

use leaseline_component::COMPONENT;
use leaseline_wasmtime::{
    Ctx, CtxView, Limits, View, add_redis_to_linker, add_to_linker, bindings,
};
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

#[tokio::test]
async fn a_host_with_all_of_wasi_adds_only_redis() {
    // Also with wasmtime's default of concurrency inside of instances.
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
    bindings::Component::instantiate_async(&mut store, &component, &linker)
        .await
        .unwrap();
}

#[test]
fn interfaces_are_not_added_twice() {
    let engine = Engine::new(&Config::new()).unwrap();
    let mut linker = Linker::<HostState>::new(&engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
    assert!(add_to_linker(&mut linker).is_err());
}
