//! The component's bytes in the place of the native core: whatever happens, both do the same.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use leaseline_sim::{Case, Engine, Runner, Scripts, case_files, case_of, tell};

/// Compiled once for all tests of this process.
static COMPONENT: LazyLock<Engine> =
    LazyLock::new(|| Engine::bundled().expect("the bundled component"));

/// Cases by chance.
const SEEDS: u64 = 120;

fn component() -> Runner {
    Runner::default().on(COMPONENT.clone())
}

/// Plays a case on both engines.
fn compare(name: &str, case: &Case) {
    let (native, component) = (Runner::default(), component());
    let expected = match native.run(case) {
        Ok(coverage) => coverage,
        Err(violation) => panic!("{name}: {}", tell(&native, case, &violation)),
    };
    let found = match component.run(case) {
        Ok(coverage) => coverage,
        Err(violation) => panic!("{name}: {}", tell(&component, case, &violation)),
    };
    if found != expected {
        let (_, native) = native.tell(case);
        let (_, component) = component.tell(case);
        let line = native.iter().zip(&component).position(|(n, c)| n != c);
        let line = line.unwrap_or(native.len().min(component.len()));
        panic!(
            "{name}: the engines part at line {line}\nnative:    {:?}\ncomponent: {:?}\n{expected:?}\n{found:?}",
            native.get(line),
            component.get(line),
        );
    }
}

fn stored(folder: &str) {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = case_files(&folder).expect("a folder of cases");
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a case");
        compare(&file.display().to_string(), &text.parse().expect("a case"));
    }
}

#[test]
fn stored_cases_have_the_same_trace_on_both_engines() {
    stored("cases");
}

#[test]
fn recipes_have_the_same_trace_on_both_engines() {
    stored("recipes");
}

#[test]
fn random_cases_have_the_same_trace_on_both_engines() {
    for seed in 0..SEEDS {
        compare(&format!("seed {seed}"), &case_of(seed));
    }
}

#[test]
fn a_case_has_the_same_trace_each_time() {
    let case = case_of(7);
    assert_eq!(component().run(&case), component().run(&case));
}

/// A comparison that could not fail would prove nothing: with other scripts the traces differ.
#[test]
fn other_scripts_have_other_traces() {
    let edited = Scripts::shipped()
        .edited(
            "claim_lease",
            "local deadline = now + ARGV[1]",
            "local deadline = now + ARGV[1] + 1",
        )
        .expect("a part of a script");
    let other = Runner::new(edited).on(COMPONENT.clone());
    let case: Case = "leaseline-sim case 1
        publish client=0 queue=0 payload=0
        claim client=0 queue=0 more=0 wait=0
        ack client=0 queue=0 pick=0"
        .parse()
        .expect("a case");
    assert_ne!(other.run(&case), component().run(&case));
}
