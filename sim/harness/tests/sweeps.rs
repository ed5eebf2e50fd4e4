//! One thing goes wrong, at every place of every short scenario.

use leaseline_sim::{Runner, sweeps, tell};

#[test]
fn nothing_is_violated_wherever_one_thing_goes_wrong() {
    let runner = Runner::default();
    let cases = sweeps();
    assert!(cases.len() > 5_000, "{} cases", cases.len());
    let mut wrong = Vec::new();
    for (name, case) in cases {
        if let Err(violation) = runner.run(&case) {
            wrong.push(format!("== {name}\n{}", tell(&runner, &case, &violation)));
        }
    }
    let shown: Vec<_> = wrong.iter().take(10).map(String::as_str).collect();
    assert!(
        wrong.is_empty(),
        "{} fail\n{}",
        wrong.len(),
        shown.join("\n\n")
    );
}
