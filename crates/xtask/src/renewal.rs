//! The invariants of lease renewal in `docs/lease-renewal.md`: each has a row, and each row names tests
//! that exist.

use std::fs;

use crate::named::{Named, gaps, quoted, root};

const INVARIANTS: usize = 45;

/// Those that speak of the table or of durations only; all others are the worker's too.
const OF_THE_TABLE: [usize; 4] = [24, 26, 43, 44];

/// Those of a payload, which a worker does not know.
const OF_THE_QUEUE: [usize; 1] = [42];

fn page() -> String {
    let page = root().join("docs/lease-renewal.md");
    fs::read_to_string(page).expect("the table can be read")
}

#[test]
fn each_test_that_the_table_names_exists() {
    let (named, gaps) = gaps(&page());
    assert!(named > 90, "only {named} tests are named");
    assert_eq!(gaps, [""; 0]);
}

#[test]
fn each_invariant_has_a_row_with_a_test_of_its_number() {
    let page = page();
    let (_, table) = page
        .split_once("## The numbered invariants")
        .expect("its table");
    let (table, _) = table.split_once("\n## ").expect("what follows it");
    for number in 1..=INVARIANTS {
        let id = format!("| {number} | ");
        let rows: Vec<&str> = table.lines().filter(|line| line.starts_with(&id)).collect();
        let [row] = rows.as_slice() else {
            panic!("{} rows of invariant {number}", rows.len());
        };
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [_, what, _, tests] = cells.as_slice() else {
            panic!("{row}");
        };
        assert!(!what.is_empty(), "{row}");
        let name = format!("invariant_{number:02}_");
        let of_it = |quoted: &&str| Named::parse(quoted).is_some() && quoted.contains(&name);
        let tests: Vec<&str> = quoted(tests).filter(of_it).collect();
        assert!(!tests.is_empty(), "{row}");
        let of_the_worker = tests
            .iter()
            .any(|test| test.starts_with("leaseline-renewal"));
        let of_others = OF_THE_TABLE.contains(&number) || OF_THE_QUEUE.contains(&number);
        assert!(of_the_worker || of_others, "{row}");
    }
}
