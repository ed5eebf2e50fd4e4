//! A Redis server of its own for each test, and runs of the command against it.

use std::ffi::OsStr;
use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use leaseline_redis::testing::RedisServer;
use redis::FromRedisValue;
use serde_json::Value;

/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server, and the engine under test.
pub(crate) struct Stage {
    pub(crate) engine: &'static str,
    pub(crate) server: RedisServer,
}

impl Stage {
    pub(crate) fn new(engine: &'static str) -> Self {
        Self {
            engine,
            server: RedisServer::start(),
        }
    }

    /// A run that is about to start, against the server.
    pub(crate) fn command<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = leaseline(["--engine", self.engine]);
        command
            .env("LEASELINE_REDIS", self.server.url())
            .args(arguments);
        command
    }

    /// A whole run without input.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Finished {
        self.run_with(arguments, b"")
    }

    /// A whole run with this on standard input.
    pub(crate) fn run_with<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &[u8],
    ) -> Finished {
        finish(self.command(arguments), input)
    }

    /// A raw command.
    pub(crate) fn redis<T: FromRedisValue>(&self, words: &[&[u8]]) -> T {
        let client = redis::Client::open(self.server.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        let mut command = redis::Cmd::new();
        for word in words {
            command.arg(*word);
        }
        command.query(&mut connection).unwrap()
    }

    /// The names of all keys, sorted.
    pub(crate) fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.redis(&[b"KEYS", b"*"]);
        keys.sort();
        keys
    }

    /// A list, head first.
    pub(crate) fn list(&self, key: &str) -> Vec<Vec<u8>> {
        self.redis(&[b"LRANGE", key.as_bytes(), b"0", b"-1"])
    }

    pub(crate) fn length(&self, key: &str) -> usize {
        self.redis(&[b"LLEN", key.as_bytes()])
    }

    /// Lets every lease of `jobs` expire, by the score and not by the clock.
    pub(crate) fn expire_leases(&self) {
        let key: &[u8] = b"jobs::processing:lease_deadlines";
        let members: Vec<Vec<u8>> = self.redis(&[b"ZRANGE", key, b"0", b"-1"]);
        for member in members {
            let _: i64 = self.redis(&[b"ZADD", key, b"1", &member]);
        }
    }

    /// Everything on the server, for comparison.
    pub(crate) fn dump(&self) -> Vec<(String, Vec<u8>)> {
        let keys = self.keys().into_iter();
        keys.map(|key| {
            let dump = self.redis(&[b"DUMP", key.as_bytes()]);
            (key, dump)
        })
        .collect()
    }

    /// Claims one message, as `claim --json` prints it.
    pub(crate) fn claim(&self) -> Value {
        self.run(["claim", "--json"]).ok().objects().remove(0)
    }
}

/// The command, without the environment of whoever runs the tests.
pub(crate) fn leaseline<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leaseline"));
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"LEASELINE_") {
            command.env_remove(name);
        }
    }
    command.args(arguments);
    command
}

/// Runs to the end.
pub(crate) fn finish(mut command: Command, input: &[u8]) -> Finished {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::scope(|scope| {
        // A run that reads no input closes the pipe.
        scope.spawn(move || drop(stdin.write_all(input)));
        Finished::new(child.wait_with_output().unwrap())
    })
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < limit, "never so: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal, such as `-TERM`.
pub(crate) fn signal(child: &Child, signal: &str) {
    let status = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Finished {
    pub(crate) fn new(output: Output) -> Self {
        Self {
            // Ended by a signal: never right where a status is compared.
            status: output.status.code().unwrap_or(-1),
            stdout: output.stdout,
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Expects success.
    pub(crate) fn ok(self) -> Self {
        self.ends(0)
    }

    /// Expects this exit status.
    pub(crate) fn ends(self, status: i32) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Standard output as JSON, one object a line.
    pub(crate) fn objects(&self) -> Vec<Value> {
        let lines = self.text().lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// One field of each object on standard output.
    pub(crate) fn field(&self, name: &str) -> Vec<String> {
        let objects = self.objects().into_iter();
        objects
            .map(|object| object[name].as_str().unwrap().to_owned())
            .collect()
    }

    /// The only line on standard error, which must be an error.
    pub(crate) fn error(&self) -> &str {
        let line = self.stderr.strip_suffix('\n').unwrap_or("");
        assert!(!line.contains('\n'), "one line: {self:?}");
        line.strip_prefix("error: ")
            .unwrap_or_else(|| panic!("an error: {self:?}"))
    }

    /// The same in JSON form.
    pub(crate) fn error_object(&self) -> Value {
        let line = self.stderr.strip_suffix('\n').unwrap_or("");
        assert!(!line.contains('\n'), "one line: {self:?}");
        let mut object: Value = serde_json::from_str(line).unwrap();
        object["error"].take()
    }
}

/// Makes each function a test for both engines.
#[macro_export]
macro_rules! engines {
    ($($(#[$meta:meta])* fn $name:ident($stage:ident: Stage) $body:block)*) => {$(
        mod $name {
            #[allow(unused_imports)]
            use super::*;

            fn body($stage: &$crate::stage::Stage) $body

            $(#[$meta])*
            #[test]
            fn native() {
                body(&$crate::stage::Stage::new("native"));
            }

            $(#[$meta])*
            #[test]
            fn component() {
                body(&$crate::stage::Stage::new("component"));
            }
        }
    )*};
}
