use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::engines;
use crate::stage::{Finished, Stage, until};

/// The payloads in the order in which they will be claimed.
fn payloads(stage: &Stage) -> Vec<String> {
    let mut stored = stage.list("jobs::pending");
    stored.reverse();
    let texts = stored.iter().map(|stored| {
        let envelope: Value =
            serde_json::from_slice(stored.strip_prefix(b"\x1eRMQ1:").unwrap()).unwrap();
        envelope["payload"].as_str().unwrap().to_owned()
    });
    texts.collect()
}

fn ids(finished: &Finished) -> Vec<String> {
    let ids = finished.field("message_id");
    for id in &ids {
        assert_eq!(id.len(), 32);
        assert!(id.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
    ids
}

engines! {
    fn each_argument_is_a_message(stage: Stage) {
        let finished = stage.run(["publish", "--json", "a", "", "ü\n", "--", "--json", "-x"]).ok();
        assert_eq!(finished.field("outcome"), ["published"; 5]);
        assert_eq!(finished.stderr, "");
        assert_eq!(payloads(stage), ["a", "", "ü\n", "--json", "-x"]);
        let first = format!("\x1eRMQ1:{{\"id\":\"{}\",\"payload\":\"a\"}}", ids(&finished)[0]);
        assert_eq!(stage.list("jobs::pending").pop().unwrap(), first.as_bytes());
    }

    fn messages_for_later_are_not_claimed_before(stage: Stage) {
        let finished = stage.run(["publish", "--json", "--delay", "3600", "a", "b"]).ok();
        assert_eq!(finished.field("outcome"), ["published"; 2]);
        let twice = ["publish", "--delay", "3600", "--dedup-key", "k", "c"];
        assert!(stage.run(twice).ok().text().starts_with("published "));
        assert!(stage.run(twice).ok().text().starts_with("duplicate "));
        stage.run(["claim"]).ends(3);
        let stats = stage.run(["stats", "--json"]).ok().objects().remove(0);
        assert_eq!((&stats["pending"], &stats["processing"], &stats["delayed"]), (&json!(0), &json!(0), &json!(3)));

        stage.run(["publish", "--delay", "0.3", "soon"]).ok();
        let claimed = stage.run(["claim", "--wait", "20", "--json"]).ok().objects().remove(0);
        assert_eq!((&claimed["payload"], &claimed["delivery_count"]), (&json!("soon"), &json!(1)));
    }

    fn lines_keep_their_order_over_batches(stage: Stage) {
        let lines: Vec<String> = (1..=1000).map(|n| n.to_string()).collect();
        let input = lines.join("\n");
        let finished = stage.run_with(["publish", "--lines", "-", "--batch", "7"], input.as_bytes()).ok();
        assert_eq!(finished.text(), "published 1000, duplicate 0\n");
        assert_eq!(payloads(stage), lines);
        assert_eq!(stage.keys(), ["jobs::pending"]);
    }

    fn a_failure_among_lines_says_where(stage: Stage) {
        let arguments = ["publish", "--lines", "-", "--batch", "2", "--max-pending-length", "3"];
        let finished = stage.run_with(arguments, b"1\n2\n3\n4\n5\n6\n").ends(1);
        assert_eq!(finished.text(), "published 3, duplicate 0, full 1\n");
        assert!(finished.error().starts_with("1 message failed, first line 4: the pending list"));
        assert!(finished.error().ends_with("nothing after line 4 was sent"));
        assert_eq!(payloads(stage), ["1", "2", "3"]);
    }
}

#[test]
fn json_is_stored_in_one_form() {
    let stage = Stage::new("component");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "{\n  \"n\": 1E16\n}\n").unwrap();
    let arguments = ["publish", "--json-payload", r#"{"b":1,"a":"é"}"#, "--file"];
    stage
        .run(
            arguments
                .map(OsStr::new)
                .into_iter()
                .chain([file.as_os_str()]),
        )
        .ok();
    let lines = "{\"x\":1,\"x\":2}\n{}\n".as_bytes();
    stage
        .run_with(["publish", "--json-payload", "--lines", "-"], lines)
        .ok();
    assert_eq!(
        payloads(&stage),
        [
            r#"{"a": "\u00e9", "b": 1}"#,
            r#"{"n": 1e+16}"#,
            r#"{"x": 2}"#,
            "{}"
        ]
    );
}

#[test]
fn json_that_is_none_is_refused_and_says_where() {
    let stage = Stage::new("native");
    let publish = |input: &[u8]| {
        let arguments = [
            "publish",
            "--json-payload",
            "--max-payload-depth",
            "1",
            "--lines",
            "-",
        ];
        stage.run_with(arguments, input)
    };
    for (input, status, text) in [
        (
            &b"{}\n{a}\n"[..],
            2,
            "first line 2: the payload is not JSON",
        ),
        (
            b"{}\n[]\n",
            2,
            "first line 2: the JSON payload is not an object",
        ),
        (
            b"{}\n{\"a\":[1]}\n",
            1,
            "first line 2: the JSON payload has depth 2 at message['a'][0]",
        ),
        (
            b"{}\n{\"a\":\"\xff\"}\n{}\n",
            2,
            "line 2 is not JSON, which is UTF-8",
        ),
    ] {
        let finished = publish(input).ends(status);
        assert!(finished.error().contains(text), "{finished:?}");
        assert!(finished.text().starts_with("published 1, "), "{finished:?}");
    }
    // Each time the good line before it was published, and nothing else.
    assert_eq!(payloads(&stage), ["{}"; 4]);
}

#[test]
fn people_see_one_line_for_each_message() {
    let stage = Stage::new("native");
    let finished = stage.run(["publish", "a", "b"]).ok();
    let lines: Vec<&str> = finished.text().lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines
            .iter()
            .all(|line| line.starts_with("published ") && line.len() == 42)
    );
}

#[test]
fn lines_end_at_lf_only() {
    let stage = Stage::new("native");
    for (input, expected) in [
        ("", vec![]),
        ("a", vec!["a"]),
        ("a\n", vec!["a"]),
        ("\n", vec![""]),
        ("a\r\n\nb\r", vec!["a\r", "", "b\r"]),
    ] {
        let finished = stage
            .run_with(["publish", "--lines", "-"], input.as_bytes())
            .ok();
        assert_eq!(
            finished.text(),
            format!("published {}, duplicate 0\n", expected.len())
        );
        assert_eq!(payloads(&stage), expected, "{input:?}");
        let _: u8 = stage.redis(&[b"DEL", b"jobs::pending"]);
    }
}

#[test]
fn lines_are_published_as_they_arrive() {
    let stage = Stage::new("native");
    let mut child = stage
        .command(["publish", "--lines", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"first\nhalf").unwrap();
    until("the first line is published", || {
        stage.length("jobs::pending") == 1
    });
    input.write_all(b" and half\n").unwrap();
    until("the second one too", || stage.length("jobs::pending") == 2);
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(payloads(&stage), ["first", "half and half"]);
}

#[test]
fn any_bytes_can_be_published() {
    let stage = Stage::new("native");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"\xff\0\n").unwrap();
    let file = file.as_os_str();
    let arguments = [
        OsStr::new("publish"),
        OsStr::from_bytes(b"\xfe"),
        OsStr::new("--file"),
        file,
        OsStr::new("--file"),
        OsStr::new("-"),
    ];
    stage.run_with(arguments, b"in\n\n").ok();
    let claimed = stage.run(["claim", "--max", "9", "--json"]).ok().objects();
    assert_eq!(claimed[0]["payload_base64"], "/g==");
    assert_eq!(claimed[1]["payload_base64"], "/wAK");
    assert_eq!(claimed[2]["payload"], "in\n\n");
    assert_eq!(claimed[0].get("payload"), None);
}

#[test]
fn a_large_message_is_sent_whole() {
    for engine in ["native", "component"] {
        let stage = Stage::new(engine);
        let line = "x".repeat(3 << 20);
        let input = format!("{line}\n{line}\n");
        stage
            .run_with(["publish", "--lines", "-"], input.as_bytes())
            .ok();
        assert_eq!(payloads(&stage), [line.clone(), line]);
    }
}

#[test]
fn a_duplicate_is_no_failure() {
    let stage = Stage::new("native");
    let arguments = [
        "publish",
        "--dedup-key",
        "k::1",
        "--dedup-ttl",
        "7.5",
        "x",
        "--json",
    ];
    assert_eq!(stage.run(arguments).ok().field("outcome"), ["published"]);
    assert_eq!(stage.run(arguments).ok().field("outcome"), ["duplicate"]);
    assert_eq!(stage.length("jobs::pending"), 1);
    let left: u64 = stage.redis(&[b"PTTL", b"jobs::deduplication::k::1"]);
    assert!((1..=7_500).contains(&left));
}

#[test]
fn a_full_queue_follows_its_policy() {
    let stage = Stage::new("native");
    let publish = |policy: &str, payload: &str| {
        stage.run([
            "publish",
            "--json",
            "--max-pending-length",
            "1",
            "--pending-overload-policy",
            policy,
            payload,
        ])
    };
    assert_eq!(publish("raise", "a").ok().field("outcome"), ["published"]);
    for policy in ["raise", "block"] {
        let finished = publish(policy, "b").ends(1);
        assert_eq!(finished.field("outcome"), ["full"]);
        let error = finished.error_object();
        assert_eq!(
            (&error["kind"], &error["retry"]),
            (&json!("backpressure"), &json!("yes"))
        );
        assert_eq!(error["message_id"], finished.objects()[0]["message_id"]);
    }
    assert_eq!(payloads(&stage), ["a"]);
    assert_eq!(
        publish("drop-oldest", "c").ok().field("outcome"),
        ["published"]
    );
    assert_eq!(payloads(&stage), ["c"]);
}
