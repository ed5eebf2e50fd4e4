//! Starting a master with a replica, and sentinels that watch them.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use redis::{FromRedisValue, RedisResult};
use tempfile::TempDir;

use super::server::{RedisServer, free_port};

const PATIENCE: Duration = Duration::from_secs(30);

/// The name under which the sentinels know the master.
const SERVICE: &str = "jobs-master";

/// A master, a replica and three sentinels on free ports of 127.0.0.1. They are killed when this is
/// dropped.
#[derive(Debug)]
pub struct RedisSentinels {
    servers: [RedisServer; 2],
    sentinels: Vec<Sentinel>,
}

#[derive(Debug)]
struct Sentinel {
    port: u16,
    child: Child,
    _directory: TempDir,
}

impl RedisSentinels {
    /// Starts everything and waits until a failover is possible.
    ///
    /// # Panics
    ///
    /// If `redis-server` is not installed, or the set does not come up.
    pub fn start() -> Self {
        let master = RedisServer::builder()
            .config("repl-diskless-sync-delay", "0")
            .start();
        let replica = RedisServer::builder()
            .config("replicaof", &format!("127.0.0.1 {}", master.port()))
            .start();
        let port = master.port();
        let set = Self {
            servers: [master, replica],
            sentinels: (0..3).map(|_| Sentinel::start(port)).collect(),
        };
        set.until("the sentinels know each other and the replica", |set| {
            set.sentinels.iter().all(|sentinel| {
                let fields: Vec<String> =
                    ask(sentinel.port, &["SENTINEL", "MASTER", SERVICE]).unwrap_or_default();
                let field = |name: &str| {
                    let at = fields.iter().position(|field| field == name);
                    at.and_then(|at| fields.get(at + 1)).map(String::as_str)
                };
                field("num-slaves") == Some("1") && field("num-other-sentinels") == Some("2")
            })
        });
        set.until("the replica is in step", |set| {
            let info: String =
                ask(set.servers[1].port(), &["INFO", "replication"]).unwrap_or_default();
            info.contains("master_link_status:up")
        });
        set
    }

    /// Its address, with all sentinels.
    pub fn url(&self) -> String {
        let hosts = self.sentinels.iter();
        let hosts: Vec<String> = hosts
            .map(|sentinel| format!("127.0.0.1:{}", sentinel.port))
            .collect();
        format!("redis+sentinel://{}/{SERVICE}/0", hosts.join(","))
    }

    /// The first master and the first replica.
    pub fn servers(&self) -> &[RedisServer; 2] {
        &self.servers
    }

    /// Waits until the replica has everything that the master has now.
    ///
    /// # Panics
    ///
    /// If that does not happen.
    pub fn until_in_step(&self) {
        let offset = |server: &RedisServer| {
            let info: String = ask(server.port(), &["INFO", "replication"]).unwrap_or_default();
            let line = info
                .lines()
                .find_map(|line| line.strip_prefix("master_repl_offset:"));
            line.and_then(|offset| offset.trim().parse::<u64>().ok())
        };
        let written = offset(&self.servers[0]);
        self.until("the replica is in step", |set| {
            offset(&set.servers[1]) >= written
        });
    }

    /// Kills the first master, and waits until the replica is the master.
    ///
    /// # Panics
    ///
    /// If it does not become one.
    pub fn kill_master(&mut self) {
        self.servers[0].kill9();
        self.until_replica_leads();
    }

    /// Makes the replica the master, with the old one alive.
    ///
    /// # Panics
    ///
    /// If it does not become one.
    pub fn fail_over(&self) {
        let port = self.sentinels[0].port;
        ask::<()>(port, &["SENTINEL", "FAILOVER", SERVICE]).expect("SENTINEL FAILOVER");
        self.until_replica_leads();
    }

    fn until_replica_leads(&self) {
        self.until("the replica is the master", |set| {
            let port = set.servers[1].port();
            let info: String = ask(port, &["INFO", "replication"]).unwrap_or_default();
            info.contains("role:master")
        });
    }

    fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let limit = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < limit, "never so: {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Sentinel {
    fn start(master: u16) -> Self {
        let directory = TempDir::new().expect("a temporary directory");
        let port = free_port();
        let file = directory.path().join("sentinel.conf");
        let text = format!(
            "port {port}\nbind 127.0.0.1\ndir {}\n\
             sentinel monitor {SERVICE} 127.0.0.1 {master} 2\n\
             sentinel down-after-milliseconds {SERVICE} 1000\n\
             sentinel failover-timeout {SERVICE} 5000\n",
            directory.path().display()
        );
        std::fs::write(&file, text).expect("a file");
        Self {
            port,
            child: spawn(&file),
            _directory: directory,
        }
    }
}

fn spawn(file: &Path) -> Child {
    Command::new("redis-server")
        .arg(file)
        .arg("--sentinel")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server is on the PATH")
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        // Both fail only if the process is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask<T: FromRedisValue>(port: u16, words: &[&str]) -> RedisResult<T> {
    let mut command = redis::Cmd::new();
    for word in words {
        command.arg(*word);
    }
    let client = redis::Client::open(format!("redis://127.0.0.1:{port}"))?;
    command.query(&mut client.get_connection()?)
}
