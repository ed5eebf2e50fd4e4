//! The stored cases, and whatever `LEASELINE_SIM_CASE` holds: a case's text, with `; ` for new lines.

use leaseline_sim::{Case, Runner, tell};

#[test]
fn every_stored_case_holds() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "case"))
        .collect();
    names.sort();
    for path in names {
        let text = std::fs::read_to_string(&path).expect("a case");
        let case: Case = text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        check(&path.display().to_string(), &case);
    }
}

#[test]
fn the_case_of_the_environment_holds() {
    if let Ok(line) = std::env::var("LEASELINE_SIM_CASE") {
        let case: Case = line
            .replace("; ", "\n")
            .parse()
            .expect("LEASELINE_SIM_CASE");
        check("LEASELINE_SIM_CASE", &case);
    }
}

fn check(name: &str, case: &Case) {
    let runner = Runner::default();
    if let Err(violation) = runner.run(case) {
        panic!("{name}\n{}", tell(&runner, case, &violation));
    }
}
