//! Finds the built component and refuses one that is missing or older than its sources.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

mod digest;
#[path = "../src/section.rs"]
mod section;

const REMEDY: &str = "build it with `make component` or `cargo xtask component`";

fn main() -> Result<(), Box<dyn Error>> {
    let manifest_directory = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let component = manifest_directory.join("wasm/leaseline.wasm");
    let recorded = manifest_directory.join("wasm/source.digest");
    let workspace = manifest_directory.join("../..");

    watch(&component);
    watch(&recorded);
    let current = if has_sources(&workspace) {
        for path in digest::TREES.iter().chain(&["Cargo.toml", "Cargo.lock"]) {
            watch(&workspace.join(path));
        }
        Some(digest::of(&workspace)?)
    } else {
        None
    };

    match check(&component, &recorded, current.as_deref()) {
        Ok(digest) => {
            println!(
                "cargo::rustc-env=LEASELINE_COMPONENT={}",
                component.display()
            );
            println!("cargo::rustc-env=LEASELINE_SOURCE_DIGEST={digest}");
        }
        Err(problem) => println!("cargo::error={problem}; {REMEDY}"),
    }
    Ok(())
}

/// Whether `root` is our workspace, and not a place where a published crate was unpacked.
fn has_sources(root: &Path) -> bool {
    [
        "Cargo.toml",
        "Cargo.lock",
        "crates/core/src",
        "crates/guest/src",
        "lua",
        "wit",
    ]
    .iter()
    .all(|path| root.join(path).exists())
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// The digest of the component's sources, or what is wrong with the component.
fn check(component: &Path, recorded: &Path, current: Option<&str>) -> Result<String, String> {
    let missing =
        |path: &Path| format!("the component is not built: {} is missing", path.display());
    let wasm = fs::read(component).map_err(|_| missing(component))?;
    let recorded_digest = fs::read_to_string(recorded).map_err(|_| missing(recorded))?;
    let recorded_digest = recorded_digest.trim();

    if section::find(&wasm, section::SOURCE_SECTION) != Some(recorded_digest.as_bytes()) {
        return Err(format!(
            "the component is not the one that {} names",
            recorded.display()
        ));
    }
    if current.is_some_and(|current| current != recorded_digest) {
        return Err("the component is stale: its sources have changed since it was built".into());
    }
    Ok(recorded_digest.to_owned())
}
