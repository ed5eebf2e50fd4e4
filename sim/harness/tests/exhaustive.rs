//! Every case of up to five operations over small alphabets; `SIM_EXHAUSTIVE=1` for larger ones.

use leaseline_sim::{Case, Op, Runner, explore, tell};

fn ops(lines: &[&str]) -> Vec<Op> {
    lines
        .iter()
        .map(|line| line.parse().expect("an operation"))
        .collect()
}

fn check(start: &str, alphabet: &[&str], length: usize) -> u64 {
    let runner = Runner::default();
    let start: Case = format!("leaseline-sim case 1\n{start}")
        .parse()
        .expect("a case");
    let (_, runs, failed) = explore(&runner, &start, &ops(alphabet), length);
    if let Some((case, violation)) = failed {
        panic!("{}", tell(&runner, &case, &violation));
    }
    runs
}

fn length(short: usize, long: usize) -> usize {
    if std::env::var_os("SIM_EXHAUSTIVE").is_some() {
        long
    } else {
        short
    }
}

const CLAIM: &str = "claim client=0 queue=0 more=0 wait=0";
const OTHER_CLAIM: &str = "claim client=1 queue=0 more=0 wait=0";
const ACK: &str = "ack client=0 queue=0 pick=0";
const PUBLISH: &str = "publish client=0 queue=0 payload=0";
const LOSE: &str = "reset_after client=0 after=0";
const EXPIRE: &str = "advance by=lease";

#[test]
fn lost_replies_and_ends_of_leases() {
    // 5 + 5^2 + … + 5^5.
    let runs = check(
        "set budget_ms=0",
        &[PUBLISH, CLAIM, ACK, LOSE, EXPIRE],
        length(5, 7),
    );
    assert!(runs >= 3905);
}

#[test]
fn two_workers_and_one_message() {
    let start = "publish client=0 queue=0 payload=0\nclaim client=0 queue=0 more=0 wait=0";
    let alphabet = [
        OTHER_CLAIM,
        ACK,
        "ack client=1 queue=0 pick=0",
        "release client=0 queue=0 pick=0 delay=1",
        EXPIRE,
    ];
    let runs = check(start, &alphabet, length(5, 6));
    assert!(runs >= 3905);
}

#[test]
fn late_and_doubled_requests() {
    let start = "publish client=0 queue=0 payload=0";
    let alphabet = [
        CLAIM,
        ACK,
        "late_request client=0 after=0 by=lease",
        "duplicate_request client=0 after=0 by=1",
        EXPIRE,
    ];
    let runs = check(start, &alphabet, length(5, 6));
    assert!(runs >= 3905);
}

#[test]
fn every_call_of_a_claim_fails_in_turn() {
    for call in 0..46 {
        for error in 0..2 {
            let start = format!(
                "set limit=1\npublish client=0 queue=0 payload=0\npublish client=0 queue=0 payload=0\n\
                 claim client=0 queue=0 more=0 wait=0\nadvance by=lease\nfail_call call={call} error={error}"
            );
            check(&start, &[OTHER_CLAIM, "ack_all client=0 queue=0"], 2);
        }
    }
}

#[test]
fn dead_letters_and_delays() {
    let start = "set limit=1 failed=2\npublish client=0 queue=0 payload=0";
    let alphabet = [
        CLAIM,
        "release client=0 queue=0 pick=0 delay=lease",
        "fail client=0 queue=0 pick=0",
        "redrive client=1 queue=0",
        EXPIRE,
    ];
    assert!(check(start, &alphabet, length(5, 6)) >= 3905);
}

#[test]
fn windows_of_deduplication() {
    let alphabet = [
        "publish_keyed client=0 queue=0 key=0",
        "publish_keyed client=1 queue=0 key=0",
        LOSE,
        "advance by=window",
        "advance by=1",
    ];
    assert!(check("set window_ms=500", &alphabet, length(5, 6)) >= 3905);
}

#[test]
fn scripts_that_are_taken_back() {
    let start = "publish client=0 queue=0 payload=0";
    let alphabet = [
        CLAIM,
        OTHER_CLAIM,
        ACK,
        "failover lost=1 ahead=0 behind=0",
        EXPIRE,
    ];
    assert!(check(start, &alphabet, length(5, 6)) >= 3905);
}

#[test]
fn workers_that_die_without_leases() {
    let start = "set lease_ms=0 completed=2\npublish client=0 queue=0 payload=0";
    let alphabet = [
        CLAIM,
        ACK,
        "kill client=0 after=0 ran=1",
        LOSE,
        "drain client=0 queue=0",
    ];
    assert!(check(start, &alphabet, length(5, 6)) >= 3905);
}
