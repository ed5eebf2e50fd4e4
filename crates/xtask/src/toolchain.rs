//! A compiler that can build for WebAssembly.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::module::TARGET;
use crate::step;

/// Where Debian's packages put their compiler.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// How long `rustup` may take to fetch the target; without a network it often hangs.
const RUSTUP_PATIENCE: Duration = Duration::from_secs(30);

const REMEDIES: &str = "\
no compiler here can build for wasm32-unknown-unknown. Do one of these:
  - rustup target add wasm32-unknown-unknown
  - on Debian 12, as root: apt-get install rustc-web rust-web-src
    (and keep rustup's toolchain, whose rust-lld links the module)";

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

    /// The active toolchain, if it has the target or can get it.
    fn active() -> Result<Option<Self>> {
        let rustc = active_rustc();
        let sysroot = sysroot(&rustc)?;
        if !has_target(&sysroot) {
            step(&format!("asking rustup for {TARGET}"));
            let added = rustup_adds_target();
            if !(added && has_target(&sysroot)) {
                step("rustup cannot provide it");
                return Ok(None);
            }
        }
        let version = version(&rustc)?;
        Ok(Some(Self {
            origin: Origin::Rustup,
            version,
            sysroot,
            linker: None,
        }))
    }

    /// Debian's toolchain, if its compiler, its sources and a linker are there.
    fn debian() -> Result<Option<Self>> {
        let rustc = OsString::from(DEBIAN_RUSTC);
        if !Path::new(&rustc).exists() {
            return Ok(None);
        }
        let sysroot = sysroot(&rustc)?;
        let sources = sysroot.join("lib/rustlib/src/rust/library/Cargo.toml");
        let linker = rust_lld()?;
        if !sources.exists() || linker.is_none() {
            return Ok(None);
        }
        Ok(Some(Self {
            origin: Origin::Debian,
            version: version(&rustc)?,
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

/// Whether `rustup target add` succeeded, within limits.
fn rustup_adds_target() -> bool {
    let child = Command::new("rustup")
        .args(["target", "add", TARGET])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        return false;
    };
    let start = Instant::now();
    while start.elapsed() < RUSTUP_PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(50)),
            Err(_) => break,
        }
    }
    // It is of no use any more; that it may be gone already does not matter.
    let _ = child.kill();
    let _ = child.wait();
    false
}
