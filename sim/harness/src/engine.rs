//! Where the queue logic of the clients runs.

/// Where the queue logic of the clients runs. The same case gives the same trace on both.
#[derive(Clone, Debug, Default)]
pub enum Engine {
    /// As native code.
    #[default]
    Native,
    /// As the bytes of a component, each queue object in an instance of its own.
    #[cfg(feature = "component")]
    Component(Box<leaseline_wasmtime::Runtime>),
}

impl Engine {
    /// The component that this crate was built with. Compiling it takes tenths of a second.
    ///
    /// # Errors
    ///
    /// It is stale or does not compile; the message says what to do.
    #[cfg(feature = "component")]
    pub fn bundled() -> Result<Self, leaseline_wasmtime::ComponentError> {
        leaseline_wasmtime::Runtime::bundled().map(|runtime| Self::Component(Box::new(runtime)))
    }

    /// Another component.
    ///
    /// # Errors
    ///
    /// It is none, or one of another kind.
    #[cfg(feature = "component")]
    pub fn component(bytes: &[u8]) -> Result<Self, leaseline_wasmtime::ComponentError> {
        leaseline_wasmtime::Runtime::new(bytes).map(|runtime| Self::Component(Box::new(runtime)))
    }
}
