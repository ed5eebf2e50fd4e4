//! Other clients, unchanged, on `leaseline serve`: each script under `clients` runs on a real Redis and
//! on the model, and must see the same.
//!
//! The first Python that `LEASELINE_INTEROP_PYTHON` names has redis-py and the original library, 8.3.0;
//! the folder that `LEASELINE_INTEROP_NODE` names has ioredis. `make test` provides them where it can.
//! Without them, or without a Redis 7.0, the cases say that they are skipped.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use leaseline_redis::testing::RedisServer;

use crate::serving::Service;
use crate::stage::finish;

/// What runs a script, and from which variable it is known where.
#[derive(Clone, Copy)]
enum Language {
    Python,
    Node,
}

impl Language {
    fn of(script: &str) -> Self {
        match script.ends_with(".js") {
            true => Self::Node,
            false => Self::Python,
        }
    }

    fn variable(self) -> &'static str {
        match self {
            Self::Python => "LEASELINE_INTEROP_PYTHON",
            Self::Node => "LEASELINE_INTEROP_NODE",
        }
    }

    /// The program, about to start.
    fn command(self, place: &OsStr) -> Command {
        match self {
            Self::Python => {
                let python = std::env::split_paths(place).next().expect("a path");
                let mut command = Command::new(python);
                command.arg("-B").env("PYTHONUTF8", "1");
                command
            }
            Self::Node => {
                let mut command = Command::new("node");
                command.env("NODE_PATH", place);
                command
            }
        }
    }
}

/// How many lines before a difference are shown.
const CONTEXT: usize = 5;

/// Runs a script on both servers and compares what it prints, line by line.
fn compare(script: &str) {
    let language = Language::of(script);
    let Some(place) = std::env::var_os(language.variable()) else {
        eprintln!(
            "skipped: {} is not set; `make test` sets it where it can",
            language.variable()
        );
        return;
    };
    let run = |url: &str| run(language.command(&place), script, url);
    let Some((real, service)) = servers() else {
        return;
    };
    let (expected, found) = std::thread::scope(|scope| {
        let expected = scope.spawn(|| run(&real.url()));
        let found = run(service.url());
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

/// A real server and the model, if they can be compared.
fn servers() -> Option<(RedisServer, Service)> {
    let real = RedisServer::start();
    let version = version(&real);
    if !version.starts_with("7.0.") {
        eprintln!("skipped: the model is compared with Redis 7.0, and this one is {version}");
        return None;
    }
    Some((real, Service::start(&[])))
}

/// The version of a server.
fn version(server: &RedisServer) -> String {
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_connection().unwrap();
    let info: redis::InfoDict = redis::cmd("INFO").query(&mut connection).unwrap();
    info.get("redis_version").unwrap()
}

/// Runs a script on one of them and gives what it prints.
fn run(mut command: Command, script: &str, url: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/clients");
    command.arg(directory.join(script)).arg(url);
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

#[test]
fn node_client() {
    compare("node_client.js");
}

/// What a person types at `redis-cli`, with RESP2 and RESP3, and its own ways to send commands.
#[test]
fn redis_cli_sees_the_same() {
    const TYPED: &str = "PING\nSET greeting \"hello world\" EX 100\nGET greeting\nGET absent\nINCR greeting\n\
        RPUSH list a b c\nLRANGE list 0 -1\nLPOS list c\nHSET hash f 1 g 2\nHGETALL hash\nSADD set x\nSMEMBERS set\n\
        ZADD scores 1.5 one 2 two\nZRANGE scores 0 -1 WITHSCORES\nTYPE scores\nTTL greeting\n\
        XADD stream 1-1 k v\nXLEN stream\nXRANGE stream - +\nMULTI\nINCR n\nGET greeting\nEXEC\n\
        EVAL \"return {1, 'two', {3}, redis.call('GET', KEYS[1])}\" 1 greeting\n\
        EVAL \"return redis.error_reply('MINE is wrong')\" 0\nNONSENSE a\nGET\nSELECT 3\nDBSIZE\nSELECT 0\n\
        CLIENT SETNAME me\nCLIENT GETNAME\nEXPIRE list 10\nPERSIST list\nDEL list hash\nEXISTS list greeting\n";
    let has_cli = Command::new("redis-cli").arg("--version").output().is_ok();
    if !has_cli {
        eprintln!("skipped: there is no redis-cli");
        return;
    }
    let Some((real, service)) = servers() else {
        return;
    };
    let ask = |url: &str, arguments: &[&str], input: &str| {
        let mut command = Command::new("redis-cli");
        command.args(["-u", url]).args(arguments);
        let finished = finish(command, input.as_bytes());
        (
            finished.status,
            finished.text().to_owned(),
            finished.stderr.clone(),
        )
    };
    for arguments in [
        &["--no-raw"][..],
        &["-3"],
        &["--json"],
        &["--scan"],
        &["--raw", "GET", "greeting"],
        &["-n", "2", "DBSIZE"],
        &["--no-raw", "ZRANGE", "scores", "0", "-1", "WITHSCORES"],
    ] {
        let expected = ask(&real.url(), arguments, TYPED);
        let found = ask(service.url(), arguments, TYPED);
        // Keys come in no order.
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            if arguments == ["--scan"] {
                lines.sort();
            }
            lines
        };
        assert_eq!(
            (found.0, sorted(&found.1), &found.2),
            (expected.0, sorted(&expected.1), &expected.2),
            "{arguments:?}"
        );
    }
    service.stop();
}
