//! A real redis-server of our own, and its replies in the model's terms.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use leaseline_redis_model::{Content, Entry, Protocol, Reply};
use tempfile::TempDir;

use crate::real_stream;
use crate::wire::{self, Wire};

/// A server without persistence, on a socket in a directory of its own. It ends with this value.
pub(crate) struct RealServer {
    process: Child,
    /// For looking at the data without a change to what the clients have chosen.
    observer: Wire,
    directory: TempDir,
}

impl RealServer {
    /// Starts one, or says why there is none.
    pub(crate) fn start() -> Result<Self, String> {
        let directory = TempDir::new().map_err(|error| error.to_string())?;
        let mut process = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no"])
            .arg("--unixsocket")
            .arg(socket(&directory))
            .arg("--dir")
            .arg(directory.path())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("redis-server does not start: {error}"))?;
        match connect(&socket(&directory)) {
            Ok(observer) => Ok(RealServer {
                process,
                observer,
                directory,
            }),
            Err(error) => {
                stop(&mut process);
                Err(format!("redis-server does not answer: {error}"))
            }
        }
    }

    /// Another connection.
    pub(crate) fn connect(&self) -> Wire {
        connect(&socket(&self.directory)).unwrap_or_else(|error| gone(&error))
    }

    pub(crate) fn version(&mut self) -> String {
        self.info("server", "redis_version:")
    }

    /// How many clients wait for a key.
    pub(crate) fn waiting(&mut self) -> String {
        self.info("clients", "blocked_clients:")
    }

    fn info(&mut self, section: &str, name: &str) -> String {
        let Reply::Bulk(info) = self.look(&[b"INFO", section.as_bytes()]) else {
            return String::new();
        };
        let info = String::from_utf8_lossy(&info).into_owned();
        let line = info.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().to_owned()
    }

    /// Removes all clients, data and scripts. The server may not have noticed yet that clients are
    /// gone, and would serve those that waited from what comes next.
    pub(crate) fn clear(&mut self) {
        for argv in [
            &[&b"CLIENT"[..], b"KILL", b"SKIPME", b"yes"][..],
            &[b"FLUSHALL"],
            &[b"SCRIPT", b"FLUSH"],
        ] {
            self.look(argv);
        }
    }

    /// Waits until everything that was sent before has been run.
    pub(crate) fn catch_up(&mut self) {
        // The first may be answered in the same round of the server as a call before it.
        for _ in 0..2 {
            self.look(&[b"PING"]);
        }
    }

    /// Runs a call that no client made.
    pub(crate) fn look(&mut self, argv: &[&[u8]]) -> Reply {
        let bytes = self
            .observer
            .call(argv)
            .unwrap_or_else(|error| gone(&error));
        wire::reply(&bytes, Protocol::Resp2).expect("a reply")
    }

    /// Whether a value of the first database is kept in a hash table, in no order.
    pub(crate) fn keeps_in_table(&mut self, key: &[u8]) -> bool {
        self.look(&[b"SELECT", b"0"]);
        let encoding = self.look(&[b"OBJECT", b"ENCODING", key]);
        encoding == Reply::Bulk(b"hashtable".to_vec())
    }

    /// Every key of a database, in the form of the model's own dump.
    pub(crate) fn dump(&mut self, database: usize) -> BTreeMap<Vec<u8>, Entry> {
        self.look(&[b"SELECT", database.to_string().as_bytes()]);
        let keys = bulks(self.look(&[b"KEYS", b"*"]));
        let entry = |key: Vec<u8>| {
            let expires_at_ms = match self.look(&[b"PEXPIRETIME", &key]) {
                Reply::Integer(when) if when >= 0 => Some(when),
                _ => None,
            };
            let content = self.content(&key)?;
            Some((
                key,
                Entry {
                    content,
                    expires_at_ms,
                },
            ))
        };
        keys.into_iter().filter_map(entry).collect()
    }

    /// The content of a key, if it has not expired in the meantime.
    fn content(&mut self, key: &[u8]) -> Option<Content> {
        let Reply::Status(kind) = self.look(&[b"TYPE", key]) else {
            return None;
        };
        Some(match kind.as_slice() {
            b"string" => match self.look(&[b"GET", key]) {
                Reply::Bulk(text) => Content::Text(text),
                _ => return None,
            },
            b"list" => Content::List(bulks(self.look(&[b"LRANGE", key, b"0", b"-1"]))),
            b"hash" => Content::Hash(pairs(self.look(&[b"HGETALL", key])).into_iter().collect()),
            b"set" => Content::Set(bulks(self.look(&[b"SMEMBERS", key])).into_iter().collect()),
            b"zset" => {
                let members = self.look(&[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"]);
                let members = pairs(members).into_iter().map(|(member, score)| {
                    let score = String::from_utf8_lossy(&score).parse().expect("a score");
                    (member, score)
                });
                Content::SortedSet(members.collect())
            }
            b"stream" => {
                let full = self.look(&[b"XINFO", b"STREAM", key, b"FULL", b"COUNT", b"0"]);
                Content::Stream(real_stream::content(full)?)
            }
            _ => return None,
        })
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        stop(&mut self.process);
    }
}

fn stop(process: &mut Child) {
    // It has nothing to save, and may already be gone.
    let _ = process.kill();
    let _ = process.wait();
}

fn gone(error: &io::Error) -> ! {
    panic!("the real server is gone: {error}");
}

fn socket(directory: &TempDir) -> PathBuf {
    directory.path().join("redis.sock")
}

fn connect(socket: &Path) -> io::Result<Wire> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        match UnixStream::connect(socket) {
            Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            stream => return Wire::new(stream?),
        }
    }
}

fn bulks(reply: Reply) -> Vec<Vec<u8>> {
    let Reply::Array(items) = reply else {
        return Vec::new();
    };
    let bulk = |item| match item {
        Reply::Bulk(bytes) => Some(bytes),
        _ => None,
    };
    items.into_iter().filter_map(bulk).collect()
}

fn pairs(reply: Reply) -> Vec<(Vec<u8>, Vec<u8>)> {
    let items = bulks(reply);
    let (pairs, _) = items.as_chunks::<2>();
    pairs.iter().cloned().map(|[one, two]| (one, two)).collect()
}
