//! The guest as a core WebAssembly module.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::toolchain::Toolchain;

/// No operating system: the guest gets only what its world names.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

const PROFILE: &str = "component";

/// Settings of the caller that would change the bytes or the compiler.
const FOREIGN: [&str; 5] = [
    "RUSTFLAGS",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "CARGO_BUILD_RUSTC_WRAPPER",
    "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER",
];

/// Tells the build script of core which sources it is built from. Cargo goes by the times of files,
/// and a file can get other contents with an old time; when this differs, core and with it the
/// guest are compiled anew. Other builds of core do not have it.
const SOURCES: &str = "LEASELINE_SOURCE_DIGEST";

/// Compiles the guest of the workspace at `root`, whose sources have this digest, into `target`
/// and reads the module.
pub(crate) fn build(
    root: &Path,
    target: &Path,
    toolchain: &Toolchain,
    digest: &str,
) -> Result<Vec<u8>> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root);
    FOREIGN.iter().for_each(|name| {
        cargo.env_remove(name);
    });
    // `rustc --crate-type` and not `build`: as a library and a module at once, the guest would
    // be built without link-time optimisation.
    cargo
        .args(["rustc", "--quiet", "--package", "leaseline-guest", "--lib"])
        .args([
            "--crate-type",
            "cdylib",
            "--profile",
            PROFILE,
            "--target",
            TARGET,
        ])
        .arg("--target-dir")
        .arg(target)
        .env(SOURCES, digest)
        .env("CARGO_ENCODED_RUSTFLAGS", flags(root, toolchain)?);
    toolchain.apply(&mut cargo);

    let status = cargo.status().context("cannot run cargo")?;
    if !status.success() {
        bail!("the guest does not compile ({status})");
    }
    let module = target
        .join(TARGET)
        .join(PROFILE)
        .join("leaseline_guest.wasm");
    fs::read(&module).with_context(|| format!("cannot read {}", module.display()))
}

/// The compiler's flags: the same bytes come out wherever the sources lie.
fn flags(root: &Path, toolchain: &Toolchain) -> Result<OsString> {
    let mut prefixes = vec![(root.to_owned(), "/leaseline"), (cargo_home()?, "/cargo")];
    for directory in toolchain.source_directories() {
        prefixes.push((directory, "/rust"));
    }
    let mut flags = OsString::new();
    for (from, to) in prefixes {
        if !flags.is_empty() {
            flags.push("\u{1f}");
        }
        flags.push("--remap-path-prefix=");
        flags.push(from);
        flags.push("=");
        flags.push(to);
    }
    Ok(flags)
}

fn cargo_home() -> Result<PathBuf> {
    if let Some(directory) = env::var_os("CARGO_HOME") {
        return Ok(directory.into());
    }
    let home = env::home_dir().context("neither CARGO_HOME nor a home directory is known")?;
    Ok(home.join(".cargo"))
}
