//! The same sources make the same bytes, wherever they lie.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::toolchain::{Origin, Toolchain};
use crate::{component, digest, step, target_directory};

/// What a second build needs: the sources that the digest covers, and the other members of the
/// workspace, which Cargo wants to see before it compiles one of them.
const COPIED: [&str; 7] = [
    ".cargo",
    "Cargo.lock",
    "Cargo.toml",
    "crates",
    "lua",
    "sim",
    "wit",
];

/// Cargo puts it in every target directory, whatever its name.
const TARGET_MARK: &str = "CACHEDIR.TAG";

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
    fs::create_dir_all(&copy).context("cannot create the copy's directory")?;
    for name in COPIED {
        copy_tree(&root.join(name), &copy.join(name))
            .with_context(|| format!("cannot copy {name}"))?;
    }
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

/// Copies a file, or a directory without the target directories in it. Links are left out: the
/// sources have none, and editors leave some that lead nowhere.
fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    if from.is_symlink() {
        return Ok(());
    }
    if !from.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    if from.join(TARGET_MARK).exists() {
        return Ok(());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        copy_tree(&from.join(&name), &to.join(&name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn target_directories_are_not_copied() {
        let directory = tempfile::tempdir().expect("a directory");
        let from = directory.path().join("from");
        for (path, text) in [
            ("member/src/lib.rs", "code"),
            ("member/wasm/kept", "kept"),
            ("any-name/CACHEDIR.TAG", "mark"),
            ("any-name/debug/program", "large"),
        ] {
            let path = from.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
            fs::write(path, text).expect("a file");
        }
        let to = directory.path().join("to");
        copy_tree(&from, &to).expect("a copy");
        let copied = fs::read_to_string(to.join("member/src/lib.rs")).expect("the source");
        assert_eq!(copied, "code");
        assert!(to.join("member/wasm/kept").exists());
        assert!(!to.join("any-name").exists());
    }
}
