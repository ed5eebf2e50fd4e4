//! Lets an engine's epochs pass.

use std::io;
use std::thread;
use std::time::Duration;

use wasmtime::Engine;

/// The resolution of [`Limits::compute`](crate::Limits::compute).
pub(crate) const TICK: Duration = Duration::from_millis(50);

/// Starts a thread that counts the engine's epochs, until the last copy of the engine is gone. One
/// thread serves all instances: they compare the count while they compute.
pub(crate) fn start(engine: &Engine) -> io::Result<()> {
    let engine = engine.weak();
    let count = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new()
        .name("leaseline-epochs".into())
        .spawn(count)?;
    Ok(())
}
