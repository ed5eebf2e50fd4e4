//! A compiler that can build for WebAssembly.
//!
//! It is only looked for, never fetched: `scripts/setup.sh` looks in the same order and by the same
//! signs, and installs what is missing.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::module::TARGET;

/// Where Debian's packages put their compiler.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// The oldest compiler that the workspace accepts.
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

const REMEDIES: &str = "\
no compiler here can build for wasm32-unknown-unknown. Do one of these:
  - rustup target add wasm32-unknown-unknown
  - on Debian 12, as root: apt-get install rustc-web rust-web-src
    (and keep rustup's toolchain, whose rust-lld links the module)
`make setup` does what it can of this";

/// Where a compiler comes from, in the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The active toolchain, with the target's standard library.
    Rustup,
    /// Debian's compiler, which builds the standard library from Debian's copy of its sources.
    Debian,
}

impl Origin {
    /// Every origin, best first.
    pub(crate) const ALL: [Self; 2] = [Self::Rustup, Self::Debian];

    /// The origin of that name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "rustup" => Some(Self::Rustup),
            "debian" => Some(Self::Debian),
            _ => None,
        }
    }
}

/// A compiler and how to call it.
pub(crate) struct Toolchain {
    origin: Origin,
    version: String,
    sysroot: PathBuf,
    linker: Option<PathBuf>,
}

impl Toolchain {
    /// The first toolchain of these origins that is there.
    pub(crate) fn find(origins: &[Origin]) -> Result<Self> {
        for origin in origins {
            let found = match origin {
                Origin::Rustup => Self::active()?,
                Origin::Debian => Self::debian()?,
            };
            if let Some(toolchain) = found {
                return Ok(toolchain);
            }
        }
        bail!(REMEDIES);
    }

    /// The active toolchain, if it has the target.
    fn active() -> Result<Option<Self>> {
        let rustc = active_rustc();
        let sysroot = sysroot(&rustc)?;
        if !has_target(&sysroot) {
            return Ok(None);
        }
        Ok(Some(Self {
            origin: Origin::Rustup,
            version: version(&rustc)?,
            sysroot,
            linker: None,
        }))
    }

    /// Debian's toolchain, if its compiler, its sources and a linker are there and it is new
    /// enough.
    fn debian() -> Result<Option<Self>> {
        let rustc = OsString::from(DEBIAN_RUSTC);
        if !Path::new(&rustc).exists() {
            return Ok(None);
        }
        let sysroot = sysroot(&rustc)?;
        let sources = sysroot.join("lib/rustlib/src/rust/library/Cargo.toml");
        let version = version(&rustc)?;
        let linker = rust_lld()?;
        if !sources.exists() || linker.is_none() || !is_new_enough(&version) {
            return Ok(None);
        }
        Ok(Some(Self {
            origin: Origin::Debian,
            version,
            sysroot,
            linker,
        }))
    }

    /// Sets what the compiler needs in Cargo's environment and arguments.
    pub(crate) fn apply(&self, cargo: &mut Command) {
        if self.origin == Origin::Debian {
            // Building the standard library is an unstable feature of Cargo, hence the bootstrap
            // flag on a stable compiler.
            cargo.env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1");
            cargo.arg("-Zbuild-std=core,alloc,panic_abort");
        }
        if let Some(linker) = &self.linker {
            cargo.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
    }

    /// The directories of the standard library's sources, whose paths must not reach the module.
    pub(crate) fn source_directories(&self) -> Vec<PathBuf> {
        let linked = self.sysroot.join("lib/rustlib/src/rust");
        let real = linked.canonicalize().ok().filter(|real| *real != linked);
        [linked].into_iter().chain(real).collect()
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = match self.origin {
            Origin::Rustup => "the active toolchain",
            Origin::Debian => "Debian's toolchain, standard library from source",
        };
        write!(f, "{} ({origin})", self.version)
    }
}

/// The compiler that builds everything else.
fn active_rustc() -> OsString {
    env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

fn has_target(sysroot: &Path) -> bool {
    sysroot
        .join("lib/rustlib")
        .join(TARGET)
        .join("lib")
        .is_dir()
}

fn sysroot(rustc: &OsString) -> Result<PathBuf> {
    output(rustc, &["--print", "sysroot"]).map(PathBuf::from)
}

fn version(rustc: &OsString) -> Result<String> {
    let line = output(rustc, &["--version"])?;
    Ok(line.split(" (").next().unwrap_or(&line).to_owned())
}

fn output(program: &OsString, arguments: &[&str]) -> Result<String> {
    let name = program.to_string_lossy();
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        bail!("{name} {} failed: {}", arguments.join(" "), output.status);
    }
    let text = String::from_utf8(output.stdout).with_context(|| format!("{name} wrote no text"))?;
    Ok(text.trim().to_owned())
}

/// The linker of the active toolchain: Debian's own is too old for its compiler.
fn rust_lld() -> Result<Option<PathBuf>> {
    let rustc = active_rustc();
    let host = output(&rustc, &["--print", "host-tuple"])?;
    let linker = sysroot(&rustc)?
        .join("lib/rustlib")
        .join(host)
        .join("bin/rust-lld");
    Ok(linker.exists().then_some(linker))
}

/// Whether what `rustc --version` says is at least [`OLDEST`].
fn is_new_enough(version: &str) -> bool {
    let numbers = |text: &str| -> Option<(u32, u32)> {
        let mut parts = text.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    };
    let found = version.strip_prefix("rustc ").and_then(numbers);
    found.is_some() && found >= numbers(OLDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(is_new_enough(&format!("rustc {OLDEST}.0")));
        assert!(is_new_enough("rustc 1.100.0"));
        assert!(is_new_enough("rustc 2.0.0-nightly"));
        for version in ["rustc 1.85.0", "rustc 1.9.0", "rustc", "1.100.0", ""] {
            assert!(!is_new_enough(version), "{version}");
        }
    }
}
