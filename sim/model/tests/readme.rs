//! The table of commands in `README.md` is what the code has.
//!
//! `LEASELINE_WRITE_README=1 cargo test -p leaseline-redis-model --test readme` writes it anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use leaseline_redis_model::{CommandSupport, Support, commands};

const BEGIN: &str = "<!-- commands: written by tests/readme.rs -->\n";
const END: &str = "<!-- end of commands -->\n";

/// The groups, by the category that tells them; the first that fits counts.
const GROUPS: [(&str, &str); 14] = [
    ("string", "strings"),
    ("bitmap", "bitmaps"),
    ("list", "lists"),
    ("hash", "hashes"),
    ("set", "sets"),
    ("sortedset", "sorted sets"),
    ("stream", "streams"),
    ("geo", "positions"),
    ("hyperloglog", "HyperLogLog"),
    ("keyspace", "keys"),
    ("pubsub", "channels"),
    ("transaction", "transactions"),
    ("scripting", "scripts"),
    ("connection", "connections"),
];
const OTHERS: &str = "the server";

#[derive(Default)]
struct Row {
    whole: Vec<String>,
    partly: Vec<String>,
    nothing: Vec<String>,
}

fn group(command: &CommandSupport) -> &'static str {
    let has = |category: &str| command.categories.split(',').any(|word| word == category);
    let found = GROUPS.iter().find(|(category, _)| has(category));
    found.map_or(OTHERS, |(_, group)| group)
}

fn table() -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    for command in commands() {
        let mut name = format!("`{}`", command.name.to_uppercase().replace('|', " "));
        if command.is_newer {
            name.push_str(" (7.2)");
        }
        let row = rows.entry(group(&command)).or_default();
        match command.support {
            Support::Whole => row.whole.push(name),
            Support::Without(missing) => row.partly.push(format!("{name} without {missing}")),
            Support::Nothing => row.nothing.push(name),
        }
    }
    let mut table = String::from("| | supported | partly | not |\n|---|---|---|---|\n");
    for group in GROUPS.iter().map(|(_, group)| group).chain([&OTHERS]) {
        let row = rows.remove(group).unwrap_or_default();
        writeln!(
            table,
            "| {group} | {} | {} | {} |",
            row.whole.join(", "),
            row.partly.join("; "),
            row.nothing.join(", ")
        )
        .expect("a string");
    }
    assert!(rows.is_empty(), "a group that is not in the table");
    table
}

#[test]
fn the_readme_lists_every_command() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path).expect("README.md");
    let (before, rest) = text.split_once(BEGIN).expect("the beginning of the table");
    let (table_now, after) = rest.split_once(END).expect("the end of the table");
    let table = table();
    if std::env::var_os("LEASELINE_WRITE_README").is_some() {
        let text = format!("{before}{BEGIN}{table}{END}{after}");
        std::fs::write(&path, text).expect("README.md can be written");
    } else {
        assert!(
            table_now == table,
            "README.md is out of date: run LEASELINE_WRITE_README=1 cargo test -p \
             leaseline-redis-model --test readme"
        );
    }
}
