//! Other clients, unchanged, on `leaseline serve`: each Python script under `clients` runs on a real
//! Redis and on the model, and must see the same.
//!
//! The first Python that `LEASELINE_INTEROP_PYTHON` names has redis-py and the original library, 8.3.0;
//! `make test` provides it where it can. Without it, or without a Redis 7.0, the cases say that they are
//! skipped.

use std::path::Path;
use std::process::Command;

use leaseline_redis::testing::RedisServer;

use crate::serving::Service;
use crate::stage::finish;

const VARIABLE: &str = "LEASELINE_INTEROP_PYTHON";

/// How many lines before a difference are shown.
const CONTEXT: usize = 5;

/// Runs a script on both servers and compares what it prints, line by line.
fn compare(script: &str) {
    let Some(pythons) = std::env::var_os(VARIABLE) else {
        eprintln!("skipped: {VARIABLE} is not set; `make test` sets it where it finds Python 3.12");
        return;
    };
    let python = std::env::split_paths(&pythons).next().expect("a path");
    let real = RedisServer::start();
    let version = version(&real);
    if !version.starts_with("7.0.") {
        eprintln!("skipped: the model is compared with Redis 7.0, and this one is {version}");
        return;
    }
    let service = Service::start(&[]);
    let (expected, found) = std::thread::scope(|scope| {
        let expected = scope.spawn(|| run(&python, script, &real.url()));
        let found = run(&python, script, service.url());
        (expected.join().unwrap(), found)
    });
    service.stop();
    let mut pairs = expected.lines().zip(found.lines());
    if let Some(place) = pairs.position(|(expected, found)| expected != found) {
        let before = expected
            .lines()
            .take(place)
            .skip(place.saturating_sub(CONTEXT));
        panic!(
            "{script} line {}, after\n{}\nRedis: {}\nmodel: {}",
            place + 1,
            before.collect::<Vec<_>>().join("\n"),
            expected.lines().nth(place).unwrap(),
            found.lines().nth(place).unwrap(),
        );
    }
    assert_eq!(expected.lines().count(), found.lines().count(), "{script}");
    assert!(!expected.is_empty(), "{script} notes something");
}

/// The version of a server.
fn version(server: &RedisServer) -> String {
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_connection().unwrap();
    let info: redis::InfoDict = redis::cmd("INFO").query(&mut connection).unwrap();
    info.get("redis_version").unwrap()
}

/// Runs a script on one of them and gives what it prints.
fn run(python: &Path, script: &str, url: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/clients");
    let mut command = Command::new(python);
    command
        .arg("-B")
        .arg(directory.join(script))
        .arg(url)
        .env("PYTHONUTF8", "1");
    let finished = finish(command, b"");
    assert_eq!(
        finished.status,
        0,
        "{script} on {url}\n{}\n{}",
        finished.text(),
        finished.stderr
    );
    finished.text().to_owned()
}

macro_rules! scripts {
    ($($name:ident)+) => {$(
        #[test]
        fn $name() {
            compare(concat!(stringify!($name), ".py"));
        }
    )+};
}

scripts! {
    channels
    connections
    coroutines
    keys
    locks
    ordered_values
    queue_coroutines
    queue_deliveries
    queue_leases
    queue_publishing
    transactions
    values
    waiting
}
