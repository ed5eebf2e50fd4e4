//! The development tasks of the workspace that need more than a shell line.
//!
//! ```text
//! cargo xtask component                        build the component if it is stale
//! cargo xtask component --check-reproducible   build it again elsewhere and compare the bytes
//! cargo xtask component --toolchain debian     use only this toolchain (rustup or debian)
//! cargo xtask mutants [--script NAME] …        put mistakes into the scripts; does the simulator find them?
//! ```

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};

mod artifact;
mod componentize;
#[path = "../../component/build/digest.rs"]
mod digest;
mod module;
mod mutants;
#[cfg(test)]
mod named;
#[cfg(test)]
mod original;
#[cfg(test)]
mod renewal;
mod reproducible;
#[path = "../../component/src/section.rs"]
mod section;
mod toolchain;
#[cfg(test)]
mod wit;

use artifact::Artifact;
use toolchain::{Origin, Toolchain};

const USAGE: &str =
    "usage: cargo xtask component [--check-reproducible] [--toolchain rustup|debian]
       cargo xtask mutants [--script NAME] [--cases N] [--seed S] [--jobs N] [--list]";

fn main() -> ExitCode {
    match run(env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<()> {
    match arguments.next().as_deref() {
        Some("component") => {}
        Some("mutants") => return mutants::run(&workspace_root()?, arguments),
        _ => bail!("{USAGE}"),
    }
    let mut check_reproducible = false;
    let mut origins = Origin::ALL.to_vec();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--check-reproducible" => check_reproducible = true,
            "--toolchain" => {
                let name = arguments.next().context(USAGE)?;
                origins = vec![Origin::named(&name).context(USAGE)?];
            }
            _ => bail!("{USAGE}"),
        }
    }
    let root = workspace_root()?;
    if check_reproducible {
        reproducible::check(&root, &origins)
    } else {
        build(&root, &origins)
    }
}

/// Builds the component of the workspace at `root` unless it is current.
fn build(root: &Path, origins: &[Origin]) -> Result<()> {
    let digest = digest::of(root).context("the sources cannot be read")?;
    let artifact = Artifact::of(root);
    if artifact.is_current(&digest) {
        step("component is up to date");
        return Ok(());
    }
    let toolchain = Toolchain::find(origins)?;
    let component = component(root, &target_directory(root), &toolchain, &digest)?;
    artifact.write(&component, &digest)?;
    step(&format!(
        "wrote {} ({} bytes)",
        artifact.wasm().display(),
        component.len()
    ));
    Ok(())
}

/// The bytes of the component that the sources at `root` make.
fn component(root: &Path, target: &Path, toolchain: &Toolchain, digest: &str) -> Result<Vec<u8>> {
    step(&format!("compiling the guest with {toolchain}"));
    let module = module::build(root, target, toolchain, digest)?;
    step(&format!(
        "turning the module into a component ({} bytes)",
        module.len()
    ));
    let component = componentize::encode(&module, digest)?;
    componentize::check(&component)?;
    ensure!(
        digest::of(root).context("the sources cannot be read")? == digest,
        "the sources changed while they were compiled; run this again"
    );
    Ok(component)
}

/// Says what happens.
fn step(line: &str) {
    eprintln!("component: {line}");
}

/// The workspace that Cargo runs this program for; a shared target directory may have built it for
/// another copy.
fn workspace_root() -> Result<PathBuf> {
    let manifest_directory =
        env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&manifest_directory)
        .join("../..")
        .canonicalize()
        .context("the workspace that this program was built from is gone")
}

/// The component has its own folder, so that its compiler and flags disturb no other build.
fn target_directory(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), |directory| root.join(directory))
        .join("component-build")
}
