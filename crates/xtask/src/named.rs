//! Tests that a page names: where they are, and whether they are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands between backticks.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// A test as nextest lists it: a package, a test binary or program unless it is of the library, and a
/// path.
#[derive(Clone, Copy)]
pub(crate) struct Named<'a> {
    package: &'a str,
    /// `bin/` and its name for a program.
    binary: Option<&'a str>,
    path: &'a str,
}

impl<'a> Named<'a> {
    pub(crate) fn parse(quoted: &'a str) -> Option<Self> {
        let (target, path) = quoted.split_once(' ')?;
        let (package, binary) = match target.split_once("::") {
            Some((package, binary)) => (package, Some(binary)),
            None => (target, None),
        };
        let is_name = |text: &str, also: &str| {
            !text.is_empty()
                && text
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || also.contains(c))
        };
        let named = package.starts_with("leaseline")
            && is_name(package, "-")
            && is_name(path, "_:0123456789");
        named.then_some(Self {
            package,
            binary,
            path,
        })
    }

    /// Why there is no such test in these sources.
    fn gap(self, sources: &[String]) -> Option<String> {
        let mut modules: Vec<&str> = self.path.split("::").collect();
        let test = modules.pop().unwrap_or_default();
        for module in modules {
            let declared = format!("mod {module}");
            let is_there = |source: &String| {
                source.split(&declared).skip(1).any(|rest| {
                    let rest = rest.trim_start();
                    rest.starts_with(';') || rest.starts_with('{')
                })
            };
            if !sources.iter().any(is_there) {
                return Some(format!("no module {module}"));
            }
        }
        let found = sources.iter().any(|source| is_test(source, test));
        (!found).then(|| "no such test".into())
    }
}

/// Whether a source has this test: a function with the attribute, one of a suite that runs
/// everywhere, or a case in the list of a macro.
fn is_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    lines.iter().enumerate().any(|(at, line)| {
        let suites = [
            format!("async fn {name}(world: World)"),
            format!("fn {name}(stage: Stage)"),
        ];
        let case = line.trim_end_matches(';') == name;
        // Properties have arguments.
        let function = line.starts_with(&format!("fn {name}("))
            || line.starts_with(&format!("async fn {name}()"));
        let attributes = lines[..at].iter().rev();
        let mut attributes = attributes.take_while(|line| line.starts_with('#'));
        case || suites.iter().any(|suite| line.starts_with(suite))
            || function && attributes.any(|line| line.contains("test"))
    })
}

/// The sources of a test binary, or of a library or program.
fn sources(named: Named<'_>) -> Vec<String> {
    let crates = fs::read_dir(root().join("crates")).expect("the crates can be listed");
    let directories = crates.map(|entry| entry.expect("a crate").path());
    let is_it = |directory: &PathBuf| {
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap_or_default();
        manifest.contains(&format!("name = \"{}\"\n", named.package))
    };
    let mut found = Vec::new();
    for directory in directories.filter(is_it) {
        match named.binary {
            Some(binary) if !binary.starts_with("bin/") => {
                let tests = directory.join("tests");
                collect(&tests.join(binary), &mut found);
                found.extend(fs::read_to_string(tests.join(format!("{binary}.rs"))));
            }
            _ => collect(&directory.join("src"), &mut found),
        }
    }
    found
}

/// All Rust files below a directory.
fn collect(directory: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.extend(fs::read_to_string(path));
        }
    }
}

/// How many tests a page names, and what is missing of them.
pub(crate) fn gaps(page: &str) -> (usize, Vec<String>) {
    let named: BTreeSet<&str> = quoted(page)
        .filter(|quoted| Named::parse(quoted).is_some())
        .collect();
    let count = named.len();
    let gaps = named.into_iter().filter_map(|quoted| {
        let named = Named::parse(quoted)?;
        Some(format!("{quoted}: {}", named.gap(&sources(named))?))
    });
    (count, gaps.collect())
}
