//! The bytes of the Leaseline component.
//!
//! The component is the whole queue logic as one WebAssembly file: it exports
//! `leaseline:queue/queue` and imports a Redis, a clock and random bytes. Embed it with
//! `leaseline-wasmtime`, or write [`COMPONENT`] to a file for another host.
//!
//! In the repository the file is built by `make component` and never committed. The build script
//! of this crate refuses to compile when the file is missing or older than its sources; in a
//! published crate there are no sources, and the file is what was published.

mod section;

/// The component: a WebAssembly binary in the component format.
pub const COMPONENT: &[u8] = include_bytes!(env!("LEASELINE_COMPONENT"));

/// The digest of the sources that [`COMPONENT`] was built from: 64 hexadecimal digits.
pub const SOURCE_DIGEST: &str = env!("LEASELINE_SOURCE_DIGEST");

/// The digest of the sources that a component was built from, as its custom section
/// `leaseline:source` has it.
///
/// `None` for bytes that are no component of ours. The bytes are not otherwise checked.
///
/// ```
/// use leaseline_component::{COMPONENT, SOURCE_DIGEST, source_digest};
///
/// assert_eq!(source_digest(COMPONENT), Some(SOURCE_DIGEST));
/// assert_eq!(source_digest(b"something else"), None);
/// ```
pub fn source_digest(component: &[u8]) -> Option<&str> {
    let digest = section::find(component, section::SOURCE_SECTION)?;
    str::from_utf8(digest).ok()
}
