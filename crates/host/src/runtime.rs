//! A compiled component, ready to be instantiated.

use std::fmt;

use leaseline_component::{COMPONENT, SOURCE_DIGEST, source_digest};
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine};

use crate::bindings::ComponentPre;
use crate::linker::add_to_linker;
use crate::state::State;
use crate::ticker;

/// How WebAssembly binaries begin, and the four bytes after it in a module and in a component.
const MAGIC: &[u8] = b"\0asm";
const MODULE: &[u8] = &[1, 0, 0, 0];
const COMPONENT_FORMAT: &[u8] = &[0x0d, 0, 1, 0];

/// What a component of ours may import, without versions: the linker compares those.
const IMPORTS: [&str; 4] = [
    "leaseline:redis/client",
    "wasi:clocks/monotonic-clock",
    "wasi:io/poll",
    "wasi:random/random",
];

const EXPORT: &str = "leaseline:queue/queue";

/// A compiled component and the engine that runs it. Copies share both.
#[derive(Clone)]
pub struct Runtime {
    component: ComponentPre<State>,
}

impl Runtime {
    /// Compiles the component that this crate was built with.
    ///
    /// # Errors
    ///
    /// Only when the machine cannot run what wasmtime compiles, or the bytes were built from other
    /// sources than they say.
    pub fn bundled() -> Result<Self, ComponentError> {
        Self::with_digest(COMPONENT, SOURCE_DIGEST)
    }

    /// Compiles a component whose sources have this digest.
    ///
    /// # Errors
    ///
    /// [`ComponentError::Stale`] when they have another, and the errors of [`Runtime::new`].
    pub fn with_digest(component: &[u8], digest: &str) -> Result<Self, ComponentError> {
        check_format(component)?;
        let found = source_digest(component);
        if found != Some(digest) {
            return Err(ComponentError::Stale {
                expected: digest.into(),
                found: found.map(Into::into),
            });
        }
        Self::new(component)
    }

    /// Compiles a component. It takes a moment; the result is kept and copied.
    ///
    /// # Errors
    ///
    /// When the bytes are not a component that imports what this crate provides and exports the
    /// queue.
    pub fn new(component: &[u8]) -> Result<Self, ComponentError> {
        check_format(component)?;
        let engine = engine().map_err(|error| ComponentError::Engine(error.to_string()))?;
        let component = Component::from_binary(&engine, component)
            .map_err(|error| ComponentError::Invalid(format!("{error:#}")))?;
        check_world(&engine, &component)?;

        let mismatch = |error: wasmtime::Error| ComponentError::Mismatch(format!("{error:#}"));
        let mut linker = Linker::new(&engine);
        add_to_linker(&mut linker).map_err(mismatch)?;
        let instance = linker.instantiate_pre(&component).map_err(mismatch)?;
        let component = ComponentPre::new(instance).map_err(mismatch)?;
        ticker::start(&engine).map_err(|error| ComponentError::Engine(error.to_string()))?;
        Ok(Self { component })
    }

    /// The engine that the component was compiled for.
    pub fn engine(&self) -> &Engine {
        self.component.engine()
    }

    pub(crate) fn component(&self) -> &ComponentPre<State> {
        &self.component
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").finish_non_exhaustive()
    }
}

/// An engine for one plain component: no concurrency inside an instance, so calls into it cost a
/// third, and interruption by epochs.
fn engine() -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config.concurrency_support(false).epoch_interruption(true);
    Engine::new(&config)
}

fn check_format(bytes: &[u8]) -> Result<(), ComponentError> {
    let format = bytes
        .strip_prefix(MAGIC)
        .ok_or(ComponentError::NotWebAssembly)?;
    if format.starts_with(MODULE) {
        Err(ComponentError::CoreModule)
    } else if format.starts_with(COMPONENT_FORMAT) {
        Ok(())
    } else {
        Err(ComponentError::NotWebAssembly)
    }
}

/// Names first: "it imports wasi:filesystem" helps more than what the linker says about types.
fn check_world(engine: &Engine, component: &Component) -> Result<(), ComponentError> {
    let world = component.component_type();
    for (name, _) in world.imports(engine) {
        if !IMPORTS.contains(&without_version(name)) {
            return Err(ComponentError::UnknownImport(name.into()));
        }
    }
    if !world
        .exports(engine)
        .any(|(name, _)| without_version(name) == EXPORT)
    {
        return Err(ComponentError::MissingExport(EXPORT.into()));
    }
    Ok(())
}

fn without_version(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}

/// Why bytes are no component that can run here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// The bytes do not begin like a WebAssembly binary.
    #[error("this is not WebAssembly; give the bytes of leaseline.wasm")]
    NotWebAssembly,
    /// The bytes are a core module, such as the compiler makes before it is turned into a
    /// component.
    #[error(
        "this is a core WebAssembly module and not a component; build it with `cargo xtask component`"
    )]
    CoreModule,
    /// The bytes begin like a component and are none.
    #[error("the component is damaged: {0}")]
    Invalid(String),
    /// The component wants something that this host does not provide.
    #[error("this is another component: it imports {0}, which is not provided here")]
    UnknownImport(String),
    /// The component does not offer the queue.
    #[error("this is another component: it does not export {0}")]
    MissingExport(String),
    /// Names agree, versions or types do not.
    #[error("the component was made for another version of this host: {0}")]
    Mismatch(String),
    /// The component was built from other sources than wanted.
    #[error(
        "the component is stale: built from sources {}, wanted {expected}; build it again with `cargo xtask component`",
        found.as_deref().unwrap_or("unknown")
    )]
    Stale {
        /// The digest that was wanted.
        expected: String,
        /// The digest that the component names, if any.
        found: Option<String>,
    },
    /// WebAssembly cannot run on this machine.
    #[error("the WebAssembly engine does not start: {0}")]
    Engine(String),
}
