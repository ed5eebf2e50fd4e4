//! A Redis of one's own, both libraries on it, and a look at the raw keys.

use std::collections::{BTreeMap, BTreeSet};

use leaseline::capability::{Redis, Value};
use leaseline::config::Config;
use leaseline::{Connection, Engine, Queue};
use leaseline_redis::testing::RedisServer;

use crate::peer::{Library, Peer};

/// Every case has a server to itself, so the queue always has the same name.
pub(crate) const NAME: &str = "shared";

const TIMEOUT_MS: u32 = 5_000;

/// What every stored message starts with.
const PREFIX: &[u8] = b"\x1eRMQ1:";

/// A real server with one queue on it that both libraries use.
pub(crate) struct Stage {
    server: RedisServer,
    redis: Connection,
    library: Library,
    engine: Engine,
}

impl Stage {
    /// `None`, with a word of explanation, where there is no Python to test against.
    pub(crate) async fn open(library: Library, engine: Engine) -> Option<Self> {
        library.python()?;
        let server = RedisServer::start();
        let redis = Connection::open(&server.url())
            .await
            .expect("the server is there");
        Some(Self {
            server,
            redis,
            library,
            engine,
        })
    }

    /// The original, with these arguments of its constructor in the words of 8.3.0.
    pub(crate) fn theirs(&self, options: serde_json::Value) -> Peer {
        self.peer(self.library, options)
    }

    /// The original in any version.
    pub(crate) fn peer(&self, library: Library, options: serde_json::Value) -> Peer {
        Peer::open(library, &self.url(), NAME, options)
    }

    pub(crate) fn library(&self) -> Library {
        self.library
    }

    pub(crate) fn url(&self) -> String {
        self.server.url()
    }

    /// Our queue.
    pub(crate) async fn ours(&self, configure: impl FnOnce(&mut Config)) -> Queue {
        Queue::builder(NAME)
            .redis(self.server.url())
            .engine(self.engine)
            .configure(configure)
            .open()
            .await
            .expect("the queue opens")
    }

    /// Runs a command and gives its flattened reply.
    pub(crate) async fn run(&self, argv: &[&str]) -> Vec<Value> {
        let argv: Vec<&[u8]> = argv.iter().map(|argument| argument.as_bytes()).collect();
        self.redis
            .execute(&argv, TIMEOUT_MS)
            .await
            .expect("the command succeeds")
    }

    /// An integer reply.
    pub(crate) async fn int(&self, argv: &[&str]) -> i64 {
        match self.run(argv).await.as_slice() {
            [Value::Int(number)] => *number,
            other => panic!("{argv:?} answered {other:?}"),
        }
    }

    /// The elements of one of the queue's lists, newest first.
    pub(crate) async fn list(&self, word: &str) -> Vec<Vec<u8>> {
        self.texts(&["LRANGE", &key(word), "0", "-1"]).await
    }

    /// A hash that hangs on the processing key.
    pub(crate) async fn hash(&self, word: &str) -> BTreeMap<Vec<u8>, Vec<u8>> {
        pairs(self.texts(&["HGETALL", &metadata(word)]).await)
    }

    /// Every key of the server, without what it starts with in all of them: the queue's name.
    pub(crate) async fn keys(&self) -> BTreeSet<String> {
        let keys = self.texts(&["KEYS", "*"]).await.into_iter();
        keys.map(|key| {
            let key = String::from_utf8(key).expect("keys are text");
            key.strip_prefix(&self::key(""))
                .expect("only the queue's keys")
                .to_owned()
        })
        .collect()
    }

    /// The current token of the only leased message.
    pub(crate) async fn token(&self) -> String {
        let tokens: Vec<Vec<u8>> = self.hash("lease_tokens").await.into_values().collect();
        let [token] = tokens.as_slice() else {
            panic!("one lease and not {tokens:?}")
        };
        String::from_utf8(token.clone()).expect("tokens are text")
    }

    /// The server's time in milliseconds.
    pub(crate) async fn now_ms(&self) -> u64 {
        let time = self.texts(&["TIME"]).await;
        number(&time[0]) * 1_000 + number(&time[1]) / 1_000
    }

    /// Lets every lease expire without waiting.
    pub(crate) async fn expire_leases(&self) {
        for stored in self.hash("lease_tokens").await.into_keys() {
            let deadlines = metadata("lease_deadlines");
            let argv: [&[u8]; 5] = [b"ZADD", deadlines.as_bytes(), b"XX", b"1", &stored];
            self.redis
                .execute(&argv, TIMEOUT_MS)
                .await
                .expect("the lease is there");
        }
    }

    /// Checks the raw keys of a queue with leases: `total` messages and payloads are in its lists,
    /// `in_flight` of them in processing, and every piece of metadata belongs to one of these.
    pub(crate) async fn check_leases(&self, total: usize, in_flight: usize) {
        let (pending, processing) = self.check_lists(total, in_flight).await;
        let tokens = self.hash("lease_tokens").await;
        let deadlines = pairs(
            self.texts(&[
                "ZRANGE",
                &metadata("lease_deadlines"),
                "0",
                "-1",
                "WITHSCORES",
            ])
            .await,
        );
        assert_eq!(
            members(tokens.keys()),
            processing,
            "a token for each message in flight"
        );
        assert_eq!(
            members(deadlines.keys()),
            processing,
            "a deadline for each message in flight"
        );

        let current = members(tokens.values());
        assert_eq!(current.len(), in_flight, "no token twice");
        let backrefs = self.hash("claim_result_backrefs").await;
        assert_eq!(
            members(self.hash("claim_result_refs").await.keys()),
            current,
            "refs"
        );
        assert_eq!(members(backrefs.keys()), current, "backrefs");
        let claims = self.hash("claim_result_ids").await;
        assert_eq!(
            members(claims.keys()),
            members(backrefs.values()),
            "claim ids"
        );

        let counts = self.hash("delivery_counts").await;
        assert!(
            members(counts.keys()).is_superset(&processing),
            "what is in flight is counted"
        );
        let live = &pending | &processing;
        assert!(
            members(counts.keys()).is_subset(&live),
            "no count of a finished message"
        );

        if let Some(highest) = current.iter().map(|token| number(token)).max() {
            let counter = self.texts(&["GET", &metadata("lease_token_counter")]).await;
            assert!(number(&counter[0]) >= highest, "the counter is not behind");
        }
    }

    /// The same for a queue without leases.
    pub(crate) async fn check_plain(&self, total: usize, in_flight: usize) {
        let (_, processing) = self.check_lists(total, in_flight).await;
        let backrefs = self.hash("claim_result_backrefs").await;
        assert_eq!(members(backrefs.keys()), processing, "backrefs");
        let claims = self.hash("claim_result_ids").await;
        assert_eq!(members(claims.values()), processing, "claim ids");
        for word in [
            "lease_tokens",
            "lease_deadlines",
            "lease_token_counter",
            "delivery_counts",
        ] {
            assert_eq!(self.int(&["EXISTS", &metadata(word)]).await, 0, "{word}");
        }
    }

    async fn check_lists(&self, total: usize, in_flight: usize) -> (Members, Members) {
        let pending = self.list("pending").await;
        let processing = self.list("processing").await;
        assert_eq!(processing.len(), in_flight, "messages in flight");
        let mut found = pending.len() + processing.len();
        for word in ["completed", "failed", "dlq"] {
            found += self.list(word).await.len();
        }
        assert_eq!(found, total, "no message is lost or doubled");
        let live = members(pending.iter().chain(&processing));
        assert_eq!(
            live.len(),
            pending.len() + processing.len(),
            "no stored message twice"
        );
        assert!(
            live.iter().all(|stored| stored.starts_with(PREFIX)),
            "every element is an envelope"
        );
        (members(&pending), members(&processing))
    }

    /// A reply of texts alone.
    pub(crate) async fn texts(&self, argv: &[&str]) -> Vec<Vec<u8>> {
        let text = |value| match value {
            Value::Bytes(bytes) => bytes,
            other => panic!("{argv:?} answered {other:?}"),
        };
        self.run(argv).await.into_iter().map(text).collect()
    }
}

type Members = BTreeSet<Vec<u8>>;

fn members<'a>(items: impl IntoIterator<Item = &'a Vec<u8>>) -> Members {
    items.into_iter().cloned().collect()
}

/// Fields and values, or members and scores.
fn pairs(flat: Vec<Vec<u8>>) -> BTreeMap<Vec<u8>, Vec<u8>> {
    flat.chunks_exact(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect()
}

fn number(text: &[u8]) -> u64 {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .expect("a number")
}

/// The name of one of the queue's keys.
pub(crate) fn key(word: &str) -> String {
    format!("{NAME}::{word}")
}

/// The name of a key that hangs on the processing key.
fn metadata(word: &str) -> String {
    key(&format!("processing:{word}"))
}
