//! Sweeps: short scenarios of each script, with one thing that goes wrong at every place where it
//! can. Small enough to run all of them; chance needs long for the rarest.

use crate::case::Case;

/// What comes before, and what something is done to. The lines before are of client 1 or 2 and have
/// no faults; the last line is of client 0.
struct Scenario {
    name: &'static str,
    settings: &'static [&'static str],
    before: &'static [&'static str],
    /// What is disturbed.
    line: &'static str,
}

const fn scenario(
    name: &'static str,
    settings: &'static [&'static str],
    before: &'static [&'static str],
    line: &'static str,
) -> Scenario {
    Scenario {
        name,
        settings,
        before,
        line,
    }
}

/// The calls of a script that fail in turn.
const CALLS: u32 = 46;
/// Kinds of keys that are evicted or foreign in turn.
const KEYS: u32 = 13;

const PUBLISH: &str = "publish client=1 queue=0 payload=1";
const CLAIM: &str = "claim client=0 queue=0 more=0 wait=0";
const CLAIM_ALL: &str = "claim client=0 queue=0 more=4 wait=0";
const OTHER: &str = "claim client=1 queue=0 more=0 wait=0";
const OTHER_ALL: &str = "claim client=1 queue=0 more=4 wait=0";
const ACK: &str = "ack client=0 queue=0 pick=0";
const LEASE: &str = "advance by=lease";
const DELAYED: &str = "publish_delayed client=1 queue=0 delay=half-lease";

const NO_LEASES: &str = "set lease_ms=0";
const NO_LIMIT: &str = "set limit=0";
const LOGS: &[&str] = &["set completed=1000000", "set failed=1000000", NO_LIMIT];
const PLAIN_LOGS: &[&str] = &["set completed=1000000", "set failed=1000000", NO_LEASES];
const FULL: &[&str] = &["set cap=2", NO_LIMIT];
const DROPS: &[&str] = &["set cap=2", "set policy=1", NO_LIMIT];

const SCENARIOS: &[Scenario] = &[
    scenario(
        "publish",
        &[],
        &[PUBLISH],
        "publish client=0 queue=0 payload=2",
    ),
    scenario(
        "publish, full",
        FULL,
        &[PUBLISH, PUBLISH],
        "publish client=0 queue=0 payload=0",
    ),
    scenario(
        "publish, drops",
        DROPS,
        &[
            PUBLISH,
            OTHER,
            LEASE,
            PUBLISH,
            "claim client=2 queue=0 more=0 wait=0",
            PUBLISH,
            "release client=2 queue=0 pick=0 delay=0",
            PUBLISH,
        ],
        "publish client=0 queue=0 payload=0",
    ),
    scenario(
        "publish drops what came back",
        &["set cap=2", "set policy=1", NO_LIMIT, "set clients=3"],
        &[
            PUBLISH,
            OTHER,
            PUBLISH,
            LEASE,
            "claim client=2 queue=0 more=0 wait=0",
        ],
        "publish_batch client=0 queue=0 more=1",
    ),
    scenario(
        "keyed",
        &[],
        &[PUBLISH],
        "publish_keyed client=0 queue=0 key=0",
    ),
    scenario(
        "keyed, duplicate",
        &[],
        &["publish_keyed client=1 queue=0 key=0"],
        "publish_keyed client=0 queue=0 key=0",
    ),
    scenario(
        "keyed, full",
        FULL,
        &[PUBLISH, PUBLISH],
        "publish_keyed client=0 queue=0 key=0",
    ),
    scenario(
        "keyed, drops",
        DROPS,
        &[PUBLISH, PUBLISH],
        "publish_keyed client=0 queue=0 key=0",
    ),
    scenario(
        "keyed, drops no duplicate",
        DROPS,
        &["publish_keyed client=1 queue=0 key=0", PUBLISH],
        "publish_keyed client=0 queue=0 key=0",
    ),
    scenario(
        "keyed, full and a duplicate",
        FULL,
        &["publish_keyed client=1 queue=0 key=0", PUBLISH],
        "publish_keyed client=0 queue=0 key=0",
    ),
    scenario(
        "delayed",
        &[],
        &[],
        "publish_delayed client=0 queue=0 delay=lease",
    ),
    scenario(
        "delayed, others are",
        &[],
        &[
            DELAYED,
            "publish_delayed client=1 queue=0 delay=second",
            LEASE,
        ],
        "publish_delayed client=0 queue=0 delay=lease",
    ),
    scenario(
        "delayed under a key",
        &[],
        &[],
        "publish_delayed_keyed client=0 queue=0 key=0 delay=lease",
    ),
    scenario(
        "delayed, duplicate",
        &[],
        &["publish_delayed_keyed client=1 queue=0 key=0 delay=lease"],
        "publish_delayed_keyed client=0 queue=0 key=0 delay=half-lease",
    ),
    scenario("claim nothing", &[], &[], CLAIM),
    scenario(
        "claim, waits",
        &[],
        &[PUBLISH, OTHER],
        "claim client=0 queue=0 more=0 wait=half-lease",
    ),
    scenario("claim one of two", &[], &[PUBLISH, PUBLISH], CLAIM),
    scenario(
        "claim several",
        &[],
        &[PUBLISH, PUBLISH, PUBLISH],
        CLAIM_ALL,
    ),
    scenario(
        "claim after leases are over",
        &[NO_LIMIT],
        &[PUBLISH, PUBLISH, PUBLISH, OTHER, OTHER, LEASE],
        CLAIM_ALL,
    ),
    scenario(
        "claim one after leases are over",
        &[],
        &[
            PUBLISH,
            PUBLISH,
            PUBLISH,
            OTHER,
            "advance by=1",
            OTHER,
            "advance by=lease-1",
            "advance by=1",
        ],
        CLAIM,
    ),
    scenario(
        "claim buries",
        &["set limit=1"],
        &[PUBLISH, PUBLISH, PUBLISH, OTHER, OTHER, LEASE],
        CLAIM,
    ),
    scenario(
        "claim what was delayed",
        &[],
        &[DELAYED, "advance by=half-lease"],
        CLAIM,
    ),
    scenario(
        "claim what was released",
        &[],
        &[PUBLISH, OTHER, "release client=1 queue=0 pick=0 delay=0"],
        CLAIM,
    ),
    scenario(
        "claim what a foreign program pushed",
        &["set limit=1"],
        &["push_foreign queue=0", PUBLISH, OTHER, LEASE],
        CLAIM_ALL,
    ),
    scenario(
        "claim again",
        &["set budget_ms=0"],
        &[PUBLISH, PUBLISH, "reset_after client=0 after=0", CLAIM_ALL],
        CLAIM_ALL,
    ),
    scenario(
        "claim again with what it told",
        &["set budget_ms=0", "set limit=1"],
        &[
            PUBLISH,
            PUBLISH,
            OTHER,
            LEASE,
            "reset_after client=0 after=0",
            CLAIM_ALL,
        ],
        CLAIM,
    ),
    scenario(
        "claim again, too late",
        &["set budget_ms=0"],
        &[PUBLISH, "reset_after client=0 after=0", CLAIM, LEASE, OTHER],
        CLAIM_ALL,
    ),
    scenario(
        "claim again after its record ended",
        &["set budget_ms=0"],
        &[
            PUBLISH,
            "reset_after client=0 after=0",
            CLAIM,
            "share from=0 to=1",
            LEASE,
        ],
        CLAIM_ALL,
    ),
    scenario("ack", &[], &[PUBLISH, PUBLISH, CLAIM_ALL], ACK),
    scenario("ack, logged", LOGS, &[PUBLISH, PUBLISH, CLAIM_ALL], ACK),
    scenario(
        "fail, logged",
        LOGS,
        &[PUBLISH, PUBLISH, CLAIM_ALL],
        "fail client=0 queue=0 pick=0",
    ),
    scenario(
        "fail",
        &[NO_LIMIT],
        &[PUBLISH, CLAIM_ALL],
        "fail client=0 queue=0 pick=0",
    ),
    scenario(
        "ack, over",
        &[],
        &[PUBLISH, CLAIM, "advance by=lease+1"],
        ACK,
    ),
    scenario("ack, stale", LOGS, &[PUBLISH, CLAIM, LEASE, OTHER], ACK),
    scenario(
        "ack, gone",
        &[],
        &[PUBLISH, CLAIM, LEASE, OTHER, "ack client=1 queue=0 pick=0"],
        ACK,
    ),
    scenario(
        "ack, again",
        LOGS,
        &[PUBLISH, CLAIM, ACK],
        "ack_old client=0 queue=0 pick=0",
    ),
    scenario(
        "ack all",
        LOGS,
        &[PUBLISH, PUBLISH, PUBLISH, CLAIM_ALL],
        "ack_all client=0 queue=0",
    ),
    scenario(
        "ack crossed",
        &[],
        &[PUBLISH, PUBLISH, CLAIM_ALL],
        "ack_crossed client=0 queue=0",
    ),
    scenario(
        "ack what a foreign program pushed",
        &[],
        &["push_foreign queue=0", CLAIM],
        ACK,
    ),
    scenario(
        "release",
        &[],
        &[PUBLISH, CLAIM],
        "release client=0 queue=0 pick=0 delay=0",
    ),
    scenario(
        "release, later",
        &[],
        &[PUBLISH, CLAIM, DELAYED],
        "release client=0 queue=0 pick=0 delay=lease+1",
    ),
    scenario(
        "release, stale",
        &[],
        &[PUBLISH, CLAIM, LEASE, OTHER],
        "release client=0 queue=0 pick=0 delay=1",
    ),
    scenario(
        "renew",
        &[],
        &[PUBLISH, CLAIM, "advance by=half-lease"],
        "renew client=0 queue=0 pick=0",
    ),
    scenario(
        "renew, stale",
        &[],
        &[PUBLISH, CLAIM, LEASE, OTHER],
        "renew client=0 queue=0 pick=0",
    ),
    scenario(
        "redrive",
        &["set limit=1"],
        &[PUBLISH, PUBLISH, PUBLISH, OTHER_ALL, LEASE, OTHER],
        "redrive client=0 queue=0",
    ),
    scenario(
        "purge completed",
        LOGS,
        &[PUBLISH, PUBLISH, PUBLISH, CLAIM, ACK, CLAIM, ACK],
        "purge client=0 queue=0 list=0",
    ),
    scenario(
        "purge failed",
        LOGS,
        &[PUBLISH, CLAIM, "fail client=0 queue=0 pick=0"],
        "purge client=0 queue=0 list=1",
    ),
    scenario(
        "purge letters",
        &["set limit=1"],
        &[PUBLISH, PUBLISH, OTHER_ALL, LEASE, OTHER],
        "purge client=0 queue=0 list=2",
    ),
    scenario(
        "purge pending",
        &[],
        &[PUBLISH, PUBLISH, PUBLISH, OTHER_ALL, LEASE, OTHER],
        "purge client=0 queue=0 list=3",
    ),
    scenario(
        "peek pending",
        &[],
        &[PUBLISH, PUBLISH, OTHER_ALL, LEASE, OTHER],
        "peek client=0 queue=0 list=0",
    ),
    scenario(
        "peek processing",
        &[],
        &[PUBLISH, DELAYED, OTHER],
        "peek client=0 queue=0 list=1",
    ),
    scenario(
        "stats",
        LOGS,
        &[
            PUBLISH,
            PUBLISH,
            PUBLISH,
            CLAIM,
            ACK,
            OTHER,
            DELAYED,
            "advance by=1",
            OTHER,
        ],
        "stats client=0 queue=0",
    ),
    scenario(
        "stats, over",
        &[],
        &[
            PUBLISH,
            PUBLISH,
            OTHER,
            DELAYED,
            OTHER,
            LEASE,
            "advance by=1",
        ],
        "stats client=0 queue=0",
    ),
    scenario(
        "drain",
        &[],
        &[PUBLISH, CLAIM, ACK],
        "drain client=0 queue=0",
    ),
    scenario(
        "drain an open claim",
        &["set budget_ms=0"],
        &[PUBLISH, "reset_after client=0 after=0", CLAIM],
        "drain client=0 queue=0",
    ),
    scenario(
        "plain publish",
        &[NO_LEASES],
        &[],
        "publish client=0 queue=0 payload=3",
    ),
    scenario("plain claim", &[NO_LEASES], &[PUBLISH, PUBLISH], CLAIM),
    scenario(
        "plain claim of several",
        &[NO_LEASES],
        &[PUBLISH, PUBLISH, PUBLISH],
        CLAIM_ALL,
    ),
    scenario(
        "plain claim, again",
        &[NO_LEASES, "set budget_ms=0"],
        &[PUBLISH, PUBLISH, "reset_after client=0 after=0", CLAIM_ALL],
        CLAIM_ALL,
    ),
    scenario(
        "plain ack",
        &[NO_LEASES],
        &[PUBLISH, PUBLISH, CLAIM_ALL],
        ACK,
    ),
    scenario(
        "plain ack, logged",
        PLAIN_LOGS,
        &[PUBLISH, PUBLISH, CLAIM_ALL],
        ACK,
    ),
    scenario(
        "plain ack, again",
        PLAIN_LOGS,
        &[PUBLISH, CLAIM, ACK],
        "ack_old client=0 queue=0 pick=0",
    ),
    scenario(
        "plain fail, logged",
        PLAIN_LOGS,
        &[PUBLISH, CLAIM],
        "fail client=0 queue=0 pick=0",
    ),
    scenario(
        "plain stats",
        PLAIN_LOGS,
        &[PUBLISH, PUBLISH, CLAIM],
        "stats client=0 queue=0",
    ),
    scenario(
        "plain drain of an open claim",
        &[NO_LEASES, "set budget_ms=0"],
        &[PUBLISH, PUBLISH, "reset_after client=0 after=0", CLAIM_ALL],
        "drain client=0 queue=0",
    ),
];

/// What happens afterwards: the same once more, a look at it, and work that meets what was left.
const AFTER: &[&str] = &[
    "stats client=1 queue=0",
    "claim client=2 queue=0 more=4 wait=0",
    "ack_all client=2 queue=0",
    "advance by=lease",
    "claim client=1 queue=0 more=4 wait=0",
    "stats client=1 queue=0",
    "ack_all client=1 queue=0",
];

/// What goes wrong, as lines before the one that it meets.
fn disturbances() -> Vec<String> {
    let mut all = vec![String::new()];
    for error in [0, 3] {
        all.extend((0..CALLS).map(|call| format!("fail_call call={call} error={error}")));
    }
    for after in 0..2 {
        for fault in ["reset_after", "lose_reply", "reset_before"] {
            all.push(format!("{fault} client=0 after={after}"));
        }
        for by in ["1", "lease"] {
            all.push(format!("duplicate_request client=0 after={after} by={by}"));
            all.push(format!("late_request client=0 after={after} by={by}"));
        }
        all.push(format!("kill client=0 after={after} ran=1"));
    }
    all.push("out_of_memory by=lease".into());
    all.push("read_only by=half-lease".into());
    all.push("tick_in_scripts ms=1".into());
    all.push("flush_scripts".into());
    for key in 0..KEYS {
        all.push(format!("wrong_type queue=0 key={key} by=lease"));
        all.push(format!("evict queue=0 key={key}"));
    }
    all.push("remove_by_hand queue=0 list=0".into());
    all.push("remove_by_hand queue=0 list=1".into());
    all
}

/// All of them, each with what it is: `scenario; what goes wrong`.
///
/// # Panics
///
/// Never: a test reads them all.
pub fn sweeps() -> Vec<(String, Case)> {
    let disturbances = disturbances();
    let mut all = Vec::with_capacity(SCENARIOS.len() * disturbances.len());
    for scenario in SCENARIOS {
        for disturbance in &disturbances {
            let mut lines = vec!["leaseline-sim case 1", "set clients=3"];
            lines.extend(scenario.settings);
            lines.extend(scenario.before);
            if !disturbance.is_empty() {
                lines.push(disturbance);
            }
            lines.push(scenario.line);
            // As somebody does who sees it fail.
            if !disturbance.starts_with("kill") {
                lines.push(scenario.line);
            }
            lines.extend(AFTER);
            let case = lines.join("\n").parse().unwrap_or_else(|error| {
                panic!("{}: {error}", lines.join("; "));
            });
            all.push((format!("{}; {disturbance}", scenario.name), case));
        }
    }
    all
}
