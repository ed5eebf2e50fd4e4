//! The table for users of the original, `docs/redis-message-queue.md`: it names tests that exist, and
//! leaves nothing out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use wit_parser::{Resolve, TypeDefKind};

/// The invariants: a letter, and how many it has.
const INVARIANTS: [(char, usize); 15] = [
    ('S', 17),
    ('N', 12),
    ('D', 16),
    ('L', 22),
    ('P', 15),
    ('A', 19),
    ('F', 10),
    ('C', 7),
    ('H', 10),
    ('B', 5),
    ('G', 11),
    ('E', 4),
    ('I', 2),
    ('K', 4),
    ('O', 1),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/redis-message-queue.md")).expect("the table can be read")
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// A test as nextest lists it: a package, a test binary or program unless it is of the library, and a
/// path.
#[derive(Clone, Copy)]
struct Named<'a> {
    package: &'a str,
    /// `bin/` and its name for a program.
    binary: Option<&'a str>,
    path: &'a str,
}

impl<'a> Named<'a> {
    fn parse(quoted: &'a str) -> Option<Self> {
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
        let function = line.starts_with(&format!("fn {name}()"))
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

#[test]
fn each_test_that_the_table_names_exists() {
    let page = page();
    let named: BTreeSet<&str> = quoted(&page)
        .filter(|quoted| Named::parse(quoted).is_some())
        .collect();
    assert!(named.len() > 150, "only {} tests are named", named.len());
    let gaps: Vec<String> = named
        .into_iter()
        .filter_map(|quoted| {
            let named = Named::parse(quoted)?;
            Some(format!("{quoted}: {}", named.gap(&sources(named))?))
        })
        .collect();
    assert_eq!(gaps, [""; 0]);
}

#[test]
fn each_invariant_is_checked_somewhere_or_says_why_not() {
    let page = page();
    for (letter, count) in INVARIANTS {
        for number in 1..=count {
            let id = format!("| {letter}{number} | ");
            let rows: Vec<&str> = page.lines().filter(|line| line.starts_with(&id)).collect();
            let [row] = rows.as_slice() else {
                panic!("{} rows of {letter}{number}", rows.len());
            };
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            let [_, what, place] = cells.as_slice() else {
                panic!("{row}");
            };
            assert!(!what.is_empty(), "{row}");
            let said = ["By construction: ", "Not there: ", "See \""];
            let said = said.iter().any(|start| place.starts_with(start));
            let tested = quoted(place).any(|quoted| Named::parse(quoted).is_some());
            assert!(said || tested, "{row}");
        }
    }
}

/// Settings, kinds of errors, and everything about events, by the names of the interface.
#[test]
fn nothing_of_the_interface_is_left_out() {
    let mut resolve = Resolve::default();
    resolve
        .push_dir(root().join("wit"))
        .expect("the interfaces parse");
    let interface = resolve
        .interfaces
        .iter()
        .map(|(_, interface)| interface)
        .find(|interface| interface.name.as_deref() == Some("queue") && !interface.types.is_empty())
        .expect("the interface of the queue");
    let names = |name: &str| -> Vec<String> {
        let id = interface.types[name];
        let names: Vec<&String> = match &resolve.types[id].kind {
            TypeDefKind::Record(record) => record.fields.iter().map(|field| &field.name).collect(),
            TypeDefKind::Enum(cases) => cases.cases.iter().map(|case| &case.name).collect(),
            other => panic!("{name} is {other:?}"),
        };
        names
            .into_iter()
            .map(|name| name.replace('-', "_"))
            .collect()
    };
    let page = page();
    let quoted: BTreeSet<&str> = quoted(&page).collect();
    let mut missing = Vec::new();
    for of in ["config", "error-kind", "error", "operation", "event"] {
        for name in names(of) {
            if !quoted.contains(name.as_str()) {
                missing.push(format!("{name} of {of}"));
            }
        }
    }
    for function in interface.functions.values() {
        let name = function.item_name();
        if !quoted.contains(name) {
            missing.push(format!("the call {name}"));
        }
    }
    assert_eq!(missing, [""; 0]);
    let rows = |name: &str| page.contains(&format!("\n| `{name}` | "));
    let operations = names("operation");
    assert_eq!(operations.len(), 20);
    for operation in operations {
        assert!(rows(&operation), "{operation} has no row");
    }
}
