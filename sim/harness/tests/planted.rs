//! Mistakes planted in the scripts, one for each kind of checker: each must be found from every one
//! of several seeds, and made short.

use leaseline_sim::{Runner, Scripts, soak};

/// How many cases one search may take.
const CASES: u64 = 3000;

/// How many searches there are, each from a seed of its own.
const SEARCHES: u64 = 5;

fn found(name: &str, scripts: &Scripts, properties: &[&str], longest: usize) {
    let runner = Runner::new(scripts.clone());
    for search in 0..SEARCHES {
        let first = search * 1_000_000;
        let (_, runs, failure) = soak(&runner, first..first + CASES, || true);
        let failure =
            failure.unwrap_or_else(|| panic!("{name}: not found in {runs} cases from {first}"));
        let property = failure.violation.property;
        println!(
            "{name}: {property} after {runs} cases, {} lines",
            failure.case.ops.len()
        );
        assert!(properties.contains(&property), "{name}\n{}", failure.story);
        assert!(
            failure.case.ops.len() <= longest,
            "{name}\n{}",
            failure.story
        );
    }
}

fn edited(script: &str, part: &str, by: &str) -> Scripts {
    Scripts::shipped()
        .edited(script, part, by)
        .expect("a part of a script")
}

#[test]
fn an_acknowledgement_without_a_look_at_the_token() {
    let scripts = edited(
        "remove_lease",
        "if redis.call('HGET', TOKENS, stored) ~= token then",
        "if not redis.call('HGET', TOKENS, stored) then",
    );
    found(
        "ack without token",
        &scripts,
        &["stale_holder", "bijection"],
        8,
    );
}

#[test]
fn a_claim_that_is_not_recorded() {
    let scripts = edited(
        "claim_lease",
        "try('SET', refs[2 * written + 2], ids[2 * written + 2], 'PX', ARGV[3])",
        "",
    )
    .edited("claim_lease", "try('HSET', IDS, unpack(ids))", "")
    .expect("a part of a script");
    found(
        "claim without record",
        &scripts,
        &["bijection", "replay", "records", "black_box"],
        6,
    );
}

#[test]
fn a_reclaim_without_a_look_at_the_deadline() {
    let scripts = edited(
        "claim_lease",
        "'ZRANGEBYSCORE', DEADLINES, '-inf', now, 'LIMIT', 0, 1)",
        "'ZRANGEBYSCORE', DEADLINES, '-inf', '+inf', 'LIMIT', 0, 1)",
    )
    .edited(
        "claim_lease",
        "'ZRANGEBYSCORE', DEADLINES, '-inf', now, 'LIMIT', 0, math",
        "'ZRANGEBYSCORE', DEADLINES, '-inf', '+inf', 'LIMIT', 0, math",
    )
    .expect("a part of a script");
    found(
        "reclaim without deadline",
        &scripts,
        &["fifo", "one_live_lease"],
        6,
    );
}

#[test]
fn a_token_that_is_given_twice() {
    let scripts = edited(
        "claim_lease",
        "local high, low = nil, last - n",
        "local high, low = nil, 0",
    );
    found("token twice", &scripts, &["token_order", "bijection"], 40);
}

#[test]
fn a_publish_without_a_marker() {
    let scripts = edited(
        "add",
        "redis.pcall('SET', KEYS[2], '1', 'PX', ARGV[2])",
        "{}",
    );
    found(
        "publish without marker",
        &scripts,
        &["conservation", "stuck", "effect"],
        6,
    );
}

#[test]
fn a_window_that_is_too_short() {
    let scripts = edited(
        "publish",
        "step('SET', KEYS[1], '', 'NX', 'PX', ARGV[1])",
        "step('SET', KEYS[1], '', 'NX', 'PX', 100)",
    );
    found("short window", &scripts, &["dedup_window"], 6);
}

#[test]
fn a_settlement_that_loses_its_message() {
    let scripts = edited("move_lease", "redis.call('LPUSH', KEYS[2], ARGV[2])", "");
    found("lost in a move", &scripts, &["conservation"], 6);
}

#[test]
fn a_dead_letter_that_stays_pending() {
    let scripts = edited(
        "claim_lease",
        "stopped = failed(try('RPOP', PENDING))",
        "stopped = nil",
    );
    found(
        "dead letter stays",
        &scripts,
        &["conservation", "stuck", "dead_letter", "bounded_work"],
        12,
    );
}

#[test]
fn a_release_that_does_not_fence() {
    let scripts = edited("release", "redis.call('HSET', TOKENS, stored, fresh)", "");
    found(
        "release without fence",
        &scripts,
        &["bijection", "stale_holder"],
        8,
    );
}

#[test]
fn a_renewal_without_a_look_at_the_token() {
    let scripts = edited(
        "renew",
        "if redis.call('HGET', KEYS[2], ARGV[i]) == ARGV[i + 1] then",
        "if redis.call('HGET', KEYS[2], ARGV[i]) then",
    );
    found("renewal without token", &scripts, &["renewal"], 8);
}

#[test]
fn a_reclaim_that_leaves_the_lease() {
    let scripts = edited(
        "claim_lease",
        "if not failure then attempt('ZREM', KEYS[3], unpack(messages)) end",
        "",
    );
    found(
        "lease left",
        &scripts,
        &["bijection", "one_live_lease", "liveness", "quiescence"],
        40,
    );
}

#[test]
fn a_script_that_does_not_compile_is_named() {
    let scripts = Scripts::shipped()
        .with("renew", "return (")
        .expect("a script");
    let violation = Runner::new(scripts)
        .run(&Default::default())
        .expect_err("it does not compile");
    assert!(
        violation.message.starts_with("renew.lua does not compile"),
        "{violation}"
    );
}
