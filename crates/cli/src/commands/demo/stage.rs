//! Where the demo plays: a Redis, its clock, and two workers on one queue.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use leaseline::embedded::Embedded;
use leaseline::{Config, Connection, Error, Queue};

use super::lost_reply::LosesReply;
use crate::commands::beside::beside;
use crate::duration::milliseconds;
use crate::failure::Failure;
use crate::target::Target;

/// Claims of one message before it is dead-lettered.
pub(super) const MAX_DELIVERIES: u32 = 2;

/// How long a lease lasts where time can be moved.
const STILL_LEASE: Duration = Duration::from_secs(30);

/// How long it lasts where the demo has to wait for it.
const REAL_LEASE: Duration = Duration::from_millis(1_500);

/// What the wait for a lease's end is longer than the lease.
const MARGIN: Duration = Duration::from_millis(50);

/// A queue of the demo's own, with two workers.
pub(super) struct Stage {
    name: String,
    place: &'static str,
    connection: Connection,
    /// The model, whose clock stands still. Absent: a real Redis.
    model: Option<Embedded>,
    lease: Duration,
    /// The first worker's connection.
    pub(super) line: LosesReply,
    /// The worker whose reply is lost.
    pub(super) first: Queue,
    /// The worker that takes over.
    pub(super) second: Queue,
}

impl Stage {
    pub(super) async fn set(target: &Target) -> Result<Self, Failure> {
        // Unlike any other queue's name, so that no other program's messages are met.
        let mut name = format!("leaseline-demo-{:016x}", RandomState::new().hash_one(()));
        if Connection::is_cluster_address(target.redis()) {
            name = format!("{{{name}}}");
        }
        let (connection, model, lease, place) = if target.is_embedded() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let model = Embedded::with_still_clock(now.unwrap_or_default());
            let connection = Connection::from(model.clone());
            (
                connection,
                Some(model),
                STILL_LEASE,
                "a model of Redis in this process",
            )
        } else {
            let connection = target.connection().await?;
            (connection, None, REAL_LEASE, "your Redis")
        };
        let line = LosesReply::new(connection.clone());
        let first = open(target, &name, Connection::new(line.clone()), lease).await?;
        let second = open(target, &name, connection.clone(), lease).await?;
        Ok(Self {
            name,
            place,
            connection,
            model,
            lease,
            line,
            first,
            second,
        })
    }

    /// The queue's name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Which Redis it is, for people.
    pub(super) fn place(&self) -> &str {
        self.place
    }

    /// Lets every lease end.
    pub(super) async fn expire_leases(&self) {
        match &self.model {
            Some(model) => model.advance(self.lease + MARGIN),
            None => tokio::time::sleep(self.lease + MARGIN).await,
        }
    }

    /// The texts that a command answers, of a cluster at the node that has the queue.
    pub(super) async fn ask(&self, argv: &[&str]) -> Result<Vec<String>, Failure> {
        let key = self.key("pending");
        let reply = beside(&self.connection, &key, argv).await;
        reply.map_err(|error| Error::from(error).into())
    }

    /// The full name of a key of the queue.
    pub(super) fn key(&self, rest: &str) -> String {
        format!("{}::{rest}", self.name)
    }

    /// All keys of the queue.
    pub(super) async fn keys(&self) -> Result<BTreeSet<String>, Failure> {
        let pattern = self.key("*");
        let mut keys = BTreeSet::new();
        let mut cursor = "0".to_owned();
        loop {
            // SCAN and not KEYS: a large server must not be held up.
            let scan = ["SCAN", &cursor, "MATCH", &pattern, "COUNT", "1000"];
            let mut answer = self.ask(&scan).await?.into_iter();
            cursor = answer.next().unwrap_or_else(|| "0".into());
            keys.extend(answer);
            if cursor == "0" {
                return Ok(keys);
            }
        }
    }

    /// Removes all keys of the queue, and says how many are left.
    pub(super) async fn clear(&self) -> Result<usize, Failure> {
        for key in self.keys().await? {
            self.ask(&["DEL", &key]).await?;
        }
        Ok(self.keys().await?.len())
    }
}

async fn open(
    target: &Target,
    name: &str,
    connection: Connection,
    lease: Duration,
) -> Result<Queue, Failure> {
    let mut config = Config::new(name);
    config.visibility_timeout_ms = Some(milliseconds(lease));
    config.max_delivery_count = Some(MAX_DELIVERIES);
    config.cluster = Connection::is_cluster_address(target.redis());
    target.open_on(connection, config).await
}
