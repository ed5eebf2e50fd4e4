//! The same sources make the same bytes, wherever they lie.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::toolchain::{Origin, Toolchain};
use crate::{component, digest, step, target_directory};

/// What a second build does not need, or must not find.
const LEFT_OUT: [&str; 4] = ["target", ".git", "wasm", "node_modules"];

/// Builds the component here and in a copy of the workspace, and compares.
pub(crate) fn check(root: &Path, origins: &[Origin]) -> Result<()> {
    let toolchain = Toolchain::find(origins)?;
    let digest = digest::of(root).context("the sources cannot be read")?;
    let here = component(root, &target_directory(root), &toolchain, &digest)?;

    let directory = tempfile::Builder::new()
        .prefix("leaseline-reproducible-")
        .tempdir()
        .context("cannot create a directory for the copy")?;
    // Deeper than the original, so that lengths of paths differ too.
    let copy = directory.path().join("a/copy/of/the/workspace");
    copy_tree(root, &copy).context("cannot copy the workspace")?;
    step(&format!("building again in {}", copy.display()));
    let digest_there = digest::of(&copy).context("the copied sources cannot be read")?;
    ensure!(
        digest == digest_there,
        "the digest of the sources depends on where they lie"
    );
    let there = component(&copy, &copy.join("target"), &toolchain, &digest_there)?;

    ensure!(
        here == there,
        "the component is not reproducible: {} bytes here and {} in another directory, first \
         difference at byte {}",
        here.len(),
        there.len(),
        here.iter()
            .zip(&there)
            .take_while(|(one, other)| one == other)
            .count()
    );
    step(&format!(
        "reproducible: {} equal bytes from two directories",
        here.len()
    ));
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if LEFT_OUT.iter().any(|left_out| name == *left_out) {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&entry.path(), &to.join(&name))?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}
