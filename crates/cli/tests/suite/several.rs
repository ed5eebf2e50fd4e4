//! The command on a cluster, and on a master that sentinels watch.

use leaseline_redis::testing::{RedisCluster, RedisSentinels};
use serde_json::json;

use crate::stage::{Finished, finish, leaseline};

fn run(url: &str, arguments: &[&str]) -> Finished {
    let mut command = leaseline(arguments);
    command.env("LEASELINE_REDIS", url);
    finish(command, b"")
}

#[test]
fn on_a_cluster() {
    let cluster = RedisCluster::start(3, false);
    let url = cluster.url();
    let untagged = run(&url, &["publish", "a"]).ends(2);
    assert!(untagged.error().contains("'{jobs}'"), "{untagged:?}");
    let plain = run(&cluster.nodes()[0].url(), &["stats"]).ends(2);
    assert!(plain.error().contains("redis+cluster://"), "{plain:?}");

    let on_jobs = |arguments: &[&str]| run(&url, &[&["--queue", "{jobs}"], arguments].concat());
    on_jobs(&["publish", "a", "b"]).ok();
    let claimed = on_jobs(&["claim", "--json"]).ok();
    assert_eq!(claimed.field("payload"), ["a"]);

    let findings = on_jobs(&["doctor", "--json"]).ok().objects();
    let finding = |check: &str| findings.iter().find(|finding| finding["check"] == check);
    let note = finding("cluster").expect("a word about the cluster");
    assert_eq!(note["verdict"], "note");
    let queue = finding("queue").expect("a word about the queue");
    assert_eq!(
        queue["found"],
        json!("{jobs}: 1 pending, 1 in processing, 0 delayed")
    );
    run(&url, &["demo"]).ok();
}

#[test]
fn behind_sentinels() {
    let set = RedisSentinels::start();
    run(&set.url(), &["publish", "a"]).ok();
    let claimed = run(&set.url(), &["claim", "--json"]).ok();
    assert_eq!(claimed.field("payload"), ["a"]);
    run(&set.url(), &["doctor"]).ok();
    let unknown = run(&set.url().replace("jobs-master", "other"), &["stats"]).ends(2);
    assert!(unknown.error().contains("'other'"), "{unknown:?}");
}
