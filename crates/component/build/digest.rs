//! The digest of everything that the component is built from.
//!
//! This file is compiled into the build script of `leaseline-component` and into `xtask`, so that
//! both say the same of the same sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

#[path = "lockfile.rs"]
mod lockfile;

/// Counts changes to how the component is built that no source shows, such as compiler flags.
const RECIPE: &str = "1";

/// The package that becomes the component.
const GUEST: &str = "leaseline-guest";

/// Files and directories that are hashed whole, where they exist.
pub(crate) const TREES: [&str; 7] = [
    "crates/core/Cargo.toml",
    "crates/core/build.rs",
    "crates/core/src",
    "crates/guest/Cargo.toml",
    "crates/guest/src",
    "lua",
    "wit",
];

/// Sections of the workspace manifest that are hashed whole.
const MANIFEST_SECTIONS: [&str; 3] = [
    "[workspace.package]",
    "[profile.release]",
    "[profile.component]",
];

/// The digest of the sources under `root`: 64 hexadecimal digits.
pub(crate) fn of(root: &Path) -> io::Result<String> {
    let mut hash = Framed(Sha256::new());
    hash.put(b"recipe", RECIPE.as_bytes());
    let mut for_tests = BTreeMap::new();
    for path in files(root)? {
        let contents = fs::read(root.join(&path))?;
        hash.put(portable(&path).as_bytes(), &contents);
        if path.ends_with("Cargo.toml") {
            let (package, names) = test_dependencies(&String::from_utf8_lossy(&contents));
            for_tests.insert(package, names);
        }
    }
    // Of the workspace's dependencies only those that reach the component count: an update of a
    // host's crate or of the tests' does not make the component stale.
    let lockfile = fs::read_to_string(root.join("Cargo.lock"))?;
    let locked = lockfile::closure(&lockfile, GUEST, &for_tests);
    for package in &locked {
        hash.put(b"locked", package.text.as_bytes());
    }
    let names = locked.iter().map(|package| package.name.as_str()).collect();
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    hash.put(b"manifest", relevant_lines(&manifest, &names).as_bytes());
    Ok(hex::encode(hash.0.finalize()))
}

/// A hash over named parts, each with its length in front: parts cannot run into each other.
struct Framed(Sha256);

impl Framed {
    fn put(&mut self, name: &[u8], contents: &[u8]) {
        for part in [name, contents] {
            self.0.update((part.len() as u64).to_be_bytes());
            self.0.update(part);
        }
    }
}

/// Every hashed file, relative to `root`, sorted.
fn files(root: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut open: Vec<PathBuf> = TREES.iter().map(PathBuf::from).collect();
    while let Some(path) = open.pop() {
        let full = root.join(&path);
        if full.is_dir() {
            for entry in fs::read_dir(full)? {
                open.push(path.join(entry?.file_name()));
            }
        } else if full.is_file() && is_source(&path) {
            found.insert(path);
        }
    }
    Ok(found)
}

/// Editors leave other files about, and the Lua folder has documentation.
fn is_source(path: &Path) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|extension| ["rs", "lua", "wit", "toml"].contains(&extension))
}

/// The name of a manifest's package, and the dependencies that only its tests have.
///
/// In doubt a dependency counts as one of the package itself: when its name stands anywhere outside
/// `[dev-dependencies]`, and when it is written in another form than one line there.
fn test_dependencies(manifest: &str) -> (String, BTreeSet<String>) {
    let mut section = "";
    let mut package = "";
    let mut names = BTreeSet::new();
    let mut rest = String::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        if section == "[dev-dependencies]" {
            // `name = …` or `name.workspace = true`.
            if let Some(end) = line.find(['.', '=', ' '])
                && !line.starts_with('#')
            {
                names.insert(line[..end].to_owned());
            }
            continue;
        }
        if section == "[package]"
            && let Some(("name", value)) = line.split_once(" = ")
        {
            package = value.trim_matches('"');
        }
        rest.push_str(line);
        rest.push('\n');
    }
    names.retain(|name| !rest.contains(name));
    (package.to_owned(), names)
}

/// The path with `/` on every system.
fn portable(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// The sections of a manifest that shape the component, and of its dependencies those `names`.
fn relevant_lines(manifest: &str, names: &BTreeSet<&str>) -> String {
    let mut section = "";
    let mut lines = String::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        }
        let whole = MANIFEST_SECTIONS.contains(&section);
        let named = section == "[workspace.dependencies]"
            && line
                .split_once('=')
                .is_some_and(|(name, _)| names.contains(name.trim()));
        if (whole || named) && !line.is_empty() && !line.starts_with('#') {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_manifest_only_what_shapes_the_component_counts() {
        let manifest = "\
[workspace]
members = [\"a\"]
[workspace.dependencies]
near = \"1\"
far = \"2\"
# A comment.
[profile.dev]
debug = 1
[profile.component]
# Another.
opt-level = \"s\"
";
        let lines = relevant_lines(manifest, &BTreeSet::from(["near"]));
        assert_eq!(
            lines,
            "near = \"1\"\n[profile.component]\nopt-level = \"s\"\n"
        );
    }

    #[test]
    fn dependencies_of_tests_are_told_apart() {
        let (package, names) = test_dependencies(
            "\
[package]
name = \"ours\"
[dependencies]
both.workspace = true
renamed = { package = \"real\", version = \"1\" }
[dev-dependencies]
# A comment.
both = { workspace = true, features = [\"more\"] }
one.workspace = true
two = \"2\"
real = \"3\"
[build-dependencies]
tool = \"1\"
",
        );
        assert_eq!(package, "ours");
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        assert_eq!(names, ["one", "two"]);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let hash = |parts: [(&str, &str); 2]| {
            let mut hash = Framed(Sha256::new());
            parts
                .iter()
                .for_each(|(name, text)| hash.put(name.as_bytes(), text.as_bytes()));
            hex::encode(hash.0.finalize())
        };
        assert_ne!(
            hash([("a", "bc"), ("d", "")]),
            hash([("a", "b"), ("cd", "")])
        );
    }
}
