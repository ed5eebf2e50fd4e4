//! The table for users of the original, `docs/redis-message-queue.md`: it names tests that exist, and
//! leaves nothing out.

use std::collections::BTreeSet;
use std::fs;

use wit_parser::{Resolve, TypeDefKind};

use crate::named::{Named, gaps, quoted, root};

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

fn page() -> String {
    fs::read_to_string(root().join("docs/redis-message-queue.md")).expect("the table can be read")
}

#[test]
fn each_test_that_the_table_names_exists() {
    let (named, gaps) = gaps(&page());
    assert!(named > 150, "only {named} tests are named");
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
