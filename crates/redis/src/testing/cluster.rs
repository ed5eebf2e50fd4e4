//! Starting and changing a Redis Cluster.

use std::time::{Duration, Instant};

use redis::{FromRedisValue, RedisResult};

use super::server::{RedisServer, free_port};

const PATIENCE: Duration = Duration::from_secs(30);

/// The number of hash slots of a cluster.
const SLOTS: u16 = 16_384;

/// A cluster of real servers on free ports of 127.0.0.1. They are killed when this is dropped.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<RedisServer>,
    primaries: usize,
}

impl RedisCluster {
    /// Starts primaries that share all slots evenly, and one replica for each if `replicated`.
    ///
    /// # Panics
    ///
    /// If `redis-server` is not installed, or the cluster does not come up.
    pub fn start(primaries: usize, replicated: bool) -> Self {
        let count = if replicated { 2 * primaries } else { primaries };
        let nodes: Vec<RedisServer> = (0..count)
            .map(|_| {
                RedisServer::builder()
                    .config("cluster-enabled", "yes")
                    .config("cluster-port", &free_port().to_string())
                    .config("cluster-node-timeout", "1000")
                    .config("repl-diskless-sync-delay", "0")
                    .start()
            })
            .collect();
        let cluster = Self { nodes, primaries };
        let share = usize::from(SLOTS).div_ceil(primaries);
        for at in 0..primaries {
            let (first, last) = (at * share, ((at + 1) * share).min(SLOTS.into()) - 1);
            cluster.ok(
                at,
                &[
                    "CLUSTER",
                    "ADDSLOTSRANGE",
                    &first.to_string(),
                    &last.to_string(),
                ],
            );
            cluster.ok(at, &["CLUSTER", "SET-CONFIG-EPOCH", &(at + 1).to_string()]);
        }
        for at in 1..count {
            let port = cluster.nodes[at].port().to_string();
            let bus: Vec<String> = cluster
                .ask(at, &["CONFIG", "GET", "cluster-port"])
                .expect("CONFIG");
            cluster.ok(0, &["CLUSTER", "MEET", "127.0.0.1", &port, &bus[1]]);
        }
        cluster.until("all nodes know each other", |cluster| {
            (0..count).all(|at| {
                cluster
                    .text(at, &["CLUSTER", "NODES"])
                    .matches(" connected")
                    .count()
                    == count
            })
        });
        for replica in primaries..count {
            let id = cluster.id(replica - primaries);
            cluster.ok(replica, &["CLUSTER", "REPLICATE", &id]);
        }
        cluster.until("the cluster is ready", |cluster| {
            (0..count).all(|at| {
                cluster
                    .text(at, &["CLUSTER", "INFO"])
                    .contains("cluster_state:ok")
            }) && (primaries..count).all(|at| {
                cluster
                    .text(at, &["INFO", "replication"])
                    .contains("master_link_status:up")
            })
        });
        cluster
    }

    /// Its address, with all nodes.
    pub fn url(&self) -> String {
        let ports = self.nodes.iter();
        let hosts: Vec<String> = ports
            .map(|node| format!("127.0.0.1:{}", node.port()))
            .collect();
        format!("redis+cluster://{}", hosts.join(","))
    }

    /// The nodes, primaries before their replicas, as they were at the start.
    pub fn nodes(&self) -> &[RedisServer] {
        &self.nodes
    }

    /// One of them, to kill it or to start it again.
    pub fn node_mut(&mut self, at: usize) -> &mut RedisServer {
        &mut self.nodes[at]
    }

    /// Where the replica of a primary is.
    pub fn replica_of(&self, primary: usize) -> usize {
        self.primaries + primary
    }

    /// Which of the first primaries owned this key at the start, and its slot.
    pub fn home(&self, key: &str) -> (usize, u16) {
        let slot = leaseline_core::slot::slot(key.as_bytes());
        let share = usize::from(SLOTS).div_ceil(self.primaries);
        (usize::from(slot) / share, slot)
    }

    /// Begins to move a slot: keys that are not there any more are asked for at the other node.
    pub fn open_migration(&self, slot: u16, from: usize, to: usize) {
        let slot = slot.to_string();
        self.ok(
            to,
            &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &self.id(from)],
        );
        self.ok(
            from,
            &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &self.id(to)],
        );
    }

    /// Moves at most `limit` keys of a slot, and says how many there were.
    pub fn move_keys(&self, slot: u16, from: usize, to: usize, limit: usize) -> usize {
        let (slot, limit) = (slot.to_string(), limit.to_string());
        let keys: Vec<Vec<u8>> = self
            .ask(from, &["CLUSTER", "GETKEYSINSLOT", &slot, &limit])
            .expect("GETKEYSINSLOT");
        if !keys.is_empty() {
            let mut command = redis::cmd("MIGRATE");
            command.arg("127.0.0.1").arg(self.nodes[to].port());
            command.arg("").arg(0).arg(5_000).arg("KEYS").arg(&keys);
            let mut connection = self.connection(from).expect("the node runs");
            command.query::<()>(&mut connection).expect("MIGRATE");
        }
        keys.len()
    }

    /// Ends a migration: the slot belongs to the other node.
    pub fn close_migration(&self, slot: u16, from: usize, to: usize) {
        let slot = slot.to_string();
        let id = self.id(to);
        // The new owner first, so that there is one at every time; then everybody else.
        let others = (0..self.primaries).filter(|&at| at != to && at != from);
        for at in [to, from].into_iter().chain(others) {
            self.ok(at, &["CLUSTER", "SETSLOT", &slot, "NODE", &id]);
        }
    }

    /// Makes a replica the primary, with the old one's consent.
    pub fn fail_over_to(&self, replica: usize) {
        self.ok(replica, &["CLUSTER", "FAILOVER"]);
        self.until_primary(replica);
    }

    /// Waits until the replica of a primary has everything that the primary has now.
    ///
    /// # Panics
    ///
    /// If that does not happen.
    pub fn until_in_step(&self, primary: usize) {
        let offset = |node: usize| {
            let info = self.text(node, &["INFO", "replication"]);
            let line = info
                .lines()
                .find_map(|line| line.strip_prefix("master_repl_offset:"));
            line.and_then(|offset| offset.trim().parse::<u64>().ok())
        };
        let written = offset(primary);
        self.until("the replica is in step", |_| {
            offset(self.replica_of(primary)) >= written
        });
    }

    /// Waits until a node is a primary.
    pub fn until_primary(&self, node: usize) {
        self.until("the replica is the primary", |cluster| {
            cluster
                .text(node, &["INFO", "replication"])
                .contains("role:master")
                && cluster
                    .text(node, &["CLUSTER", "INFO"])
                    .contains("cluster_state:ok")
        });
    }

    /// Asks a node.
    pub fn ask<T: FromRedisValue>(&self, node: usize, words: &[&str]) -> RedisResult<T> {
        let mut command = redis::Cmd::new();
        for word in words {
            command.arg(*word);
        }
        command.query(&mut self.connection(node)?)
    }

    fn connection(&self, node: usize) -> RedisResult<redis::Connection> {
        redis::Client::open(self.nodes[node].url())?.get_connection()
    }

    fn id(&self, node: usize) -> String {
        self.text(node, &["CLUSTER", "MYID"])
    }

    fn text(&self, node: usize, words: &[&str]) -> String {
        self.ask(node, words).unwrap_or_default()
    }

    fn ok(&self, node: usize, words: &[&str]) {
        self.ask::<()>(node, words)
            .unwrap_or_else(|error| panic!("{words:?}: {error}"));
    }

    fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let limit = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < limit, "never so: {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
