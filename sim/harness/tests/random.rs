//! The same body under proptest: 256 cases of typed operations (`PROPTEST_CASES` for more), and as
//! many of arbitrary bytes.

use leaseline_sim::{Case, FIELDS, KINDS, Op, Runner, SETTINGS, Settings, decode, minimise, tell};
use proptest::prelude::*;

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let kinds: Vec<_> = KINDS
        .iter()
        .enumerate()
        .filter(|(_, kind)| kind.weight > 0)
        .map(|(at, kind)| {
            let numbers = proptest::array::uniform4(0..1000_u32);
            let op = numbers.prop_map(move |numbers: [u32; FIELDS]| Op::build(at, numbers));
            (kind.weight, op)
        })
        .collect();
    proptest::collection::vec(proptest::strategy::Union::new_weighted(kinds), 0..60)
}

fn cases() -> impl Strategy<Value = Case> {
    let choices = proptest::collection::vec(0..64_usize, SETTINGS.len());
    (choices, ops()).prop_map(|(choices, ops)| {
        let words: Vec<String> = SETTINGS
            .iter()
            .zip(choices)
            .map(|((name, values), at)| format!("set {name}={}", values[at % values.len()]))
            .collect();
        let text = format!("leaseline-sim case 1\n{}", words.join("\n"));
        let settings: Settings = text.parse::<Case>().expect("settings").settings;
        Case { settings, ops }
    })
}

fn check(case: &Case) {
    let runner = Runner::default();
    if let Err(violation) = runner.run(case) {
        // Shorter than what proptest would find, and told.
        let (case, violation) = minimise(&runner, case, &violation);
        panic!("{}", tell(&runner, &case, &violation));
    }
}

fn config() -> ProptestConfig {
    ProptestConfig {
        // Our own minimiser is better, and cases are stored as text.
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn typed_operations_violate_nothing(case in cases()) {
        check(&case);
    }

    #[test]
    fn bytes_violate_nothing(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        check(&decode(&bytes));
    }
}
