//! Whatever is wrong: one line that says what and what to do, the right exit status, nothing
//! changed, no secret.

use std::fs;

use leaseline_redis::testing::{RedisServer, free_port};

use crate::engines;
use crate::refusal::{SECRET, refused};
use crate::stage::{Stage, finish, leaseline};

#[test]
fn addresses() {
    for (url, text) in [
        (
            "http://u:s3cret@h",
            "http:// is not a Redis address; accepted are redis://",
        ),
        (
            "redis+cluster://:s3cret@h/1",
            "a cluster has only database 0",
        ),
        (
            "redis+sentinel://:s3cret@h",
            "redis+sentinel://HOST:PORT,…/SERVICE/DB",
        ),
        ("", "not valid"),
        ("localhost", "not valid"),
        ("redis://:s3cret@h:notaport", "not valid"),
        ("redis://h/notadatabase", "not valid"),
        ("embedded", "not valid"),
    ] {
        for command in ["stats", "demo"] {
            let message = refused(&["--redis", url, command], 2);
            assert!(message.contains(text), "{url}: {message}");
        }
    }
}

#[test]
fn redis_is_down() {
    let url = format!("redis://:{SECRET}@127.0.0.1:{}", free_port());
    for arguments in [
        &["stats"][..],
        &["publish", "a"],
        &["claim"],
        &["work", "--exec", "true", "--retry-budget", "0"],
        &["redrive"],
        &["demo"],
    ] {
        let mut all = vec!["--redis", &url];
        all.extend(arguments);
        let message = refused(&all, 1);
        assert!(
            message.contains("connection refused; start Redis there"),
            "{message}"
        );
    }
}

#[test]
fn nothing_speaks_tls_there() {
    let url = format!("rediss://:{SECRET}@127.0.0.1:{}", free_port());
    let message = refused(&["--redis", &url, "stats"], 1);
    assert!(message.contains("connection refused"), "{message}");
}

#[test]
fn authorities_that_cannot_be_read() {
    let url = format!("rediss://:{SECRET}@127.0.0.1:{}", free_port());
    let folder = tempfile::tempdir().unwrap();
    let (absent, empty) = (
        folder.path().join("absent.pem"),
        folder.path().join("empty.pem"),
    );
    std::fs::write(&empty, "no certificate").unwrap();
    for (file, says) in [(absent, "correct --tls-ca"), (empty, "certificate")] {
        let file = file.display().to_string();
        let message = refused(&["--redis", &url, "--tls-ca", &file, "stats"], 2);
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn a_wrong_password() {
    let server = RedisServer::builder().password("right").start();
    for login in ["", ":s3cret@", "user:s3cret@"] {
        let url = format!("redis://{login}127.0.0.1:{}", server.port());
        let message = refused(&["--redis", &url, "publish", "a"], 1);
        assert!(message.contains("check the user and password"), "{message}");
    }
}

engines! {
    fn keys_of_another_type(stage: Stage) {
        let lease = {
            stage.run(["publish", "a"]).ok();
            stage.claim().to_string()
        };
        // There is something to claim, so that a claim reads every key.
        stage.run(["publish", "waits"]).ok();
        let commands = [
            (vec!["publish", "b"], "jobs::pending"),
            (vec!["publish", "b", "c"], "jobs::pending"),
            (vec!["publish", "--dedup-key", "k", "b"], "jobs::pending"),
            (vec!["claim"], "jobs::pending"),
            (vec!["claim", "--no-lease"], "jobs::pending"),
            (vec!["work", "--exec", "true", "--until-empty"], "jobs::pending"),
            (vec!["stats"], "jobs::dlq"),
            (vec!["claim"], "jobs::processing:delivery_counts"),
            (vec!["ack", "--lease", &lease], "jobs::processing:lease_tokens"),
            (vec!["renew", "--lease", &lease], "jobs::processing:lease_deadlines"),
            (vec!["release", "--lease", &lease], "jobs::processing:delays"),
        ];
        let good: Vec<u8> = stage.redis(&[b"DUMP", b"jobs::processing:lease_tokens"]);
        for (arguments, key) in commands {
            let saved: Option<Vec<u8>> = stage.redis(&[b"DUMP", key.as_bytes()]);
            let _: () = stage.redis(&[b"SET", key.as_bytes(), b"foreign"]);
            let before = stage.dump();
            let finished = stage.run(&arguments).ends(1);
            assert!(finished.error().contains("WRONGTYPE"), "{finished:?}");
            assert!(finished.error().contains("holds another type"), "{finished:?}");
            assert_eq!(stage.dump(), before, "{arguments:?}");
            let _: u8 = stage.redis(&[b"DEL", key.as_bytes()]);
            if let Some(saved) = saved {
                let _: () = stage.redis(&[b"RESTORE", key.as_bytes(), b"0", &saved]);
            }
        }
        let after: Vec<u8> = stage.redis(&[b"DUMP", b"jobs::processing:lease_tokens"]);
        assert_eq!(after, good);
    }

    fn names_that_cannot_be(stage: Stage) {
        for (name, text) in [("a::b", "separator"), ("", "blank"), (" \t", "blank")] {
            for arguments in [&["publish", "x"][..], &["stats"], &["claim"]] {
                let finished = stage.run(["--queue", name].iter().chain(arguments)).ends(2);
                assert!(finished.error().contains(text), "{finished:?}");
            }
        }
        let lease = r#"{"queue":"a\u0000b","stored_base64":"eA==","token":"1","deadline_ms":1}"#;
        let finished = stage.run(["ack", "--lease", lease]).ends(2);
        assert!(finished.error().contains("NUL"));
        assert!(stage.keys().is_empty());
    }
}

#[test]
fn commands_to_run() {
    let stage = Stage::new("native");
    stage.run(["publish", "a"]).ok();
    let before = stage.dump();
    for (exec, text) in [
        ("no-such-command", "'no-such-command' is not found"),
        (
            "no-such-command --flag | cat",
            "'no-such-command' is not found",
        ),
        ("/no/such/file", "'/no/such/file' is not found"),
        ("/etc/passwd", "not executable"),
        ("", "names no command"),
        (" \n", "names no command"),
        ("if true", "not a shell command"),
        ("echo 'unclosed", "not a shell command"),
    ] {
        let finished = stage.run(["work", "--until-empty", "--exec", exec]).ends(2);
        assert!(finished.error().contains(text), "{finished:?}");
        assert_eq!(stage.dump(), before);
    }
}

#[test]
fn component_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let real = leaseline_component::COMPONENT;
    let digest = leaseline_component::SOURCE_DIGEST.as_bytes();
    let at = real
        .windows(digest.len())
        .position(|window| window == digest)
        .unwrap();
    let mut stale = real.to_vec();
    stale[at] = if digest[0] == b'0' { b'1' } else { b'0' };
    let mut damaged = real.to_vec();
    // Long enough that it cannot be another valid program.
    damaged[real.len() / 2..][..64].fill(0xff);
    for (path, text) in [
        (
            folder.path().join("missing").to_str().unwrap().to_owned(),
            "No such file",
        ),
        (folder.path().to_str().unwrap().to_owned(), "directory"),
        (write("empty", b""), "not WebAssembly"),
        (write("text", b"#!/bin/sh\n"), "not WebAssembly"),
        (write("module", b"\0asm\x01\0\0\0"), "not a component"),
        (write("other", b"\0asm\x0d\0\x01\0"), "stale"),
        (write("cut", &real[..real.len() / 2]), "stale"),
        (write("damaged", &damaged), "the component "),
        (write("stale", &stale), "stale"),
    ] {
        let message = refused(&["--component", &path, "stats"], 2);
        assert!(
            message.starts_with(&format!("cannot use the component {path}: ")),
            "{message}"
        );
        assert!(message.contains(text), "{message}");
    }
    let same = write("same", real);
    finish(leaseline(["--component", &same, "stats"]), b"").ok();
    // The native engine looks at none.
    finish(
        leaseline(["--component", "/no/such", "--engine", "native", "stats"]),
        b"",
    )
    .ok();
}
