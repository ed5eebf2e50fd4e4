//! The whole key set of a queue that is at rest, as ARCHITECTURE.md tells it.

use std::collections::{BTreeMap, BTreeSet};

use leaseline::capability::Value;

use crate::stage::{Stage, key};
use crate::work::Work;

/// How long keys last at most, in milliseconds.
const DEDUPLICATION_MS: i64 = 3_600_000;
const SETTLEMENT_MS: i64 = 300_000;
const RECORD_MS: i64 = 120_000;

const COUNTER: &str = "processing:lease_token_counter";

/// A queue that nobody works at.
pub(crate) struct Rest<'a> {
    pub(crate) work: &'a Work,
    /// The least that the token counter can be; `None`: without leases, or after a drain.
    pub(crate) tokens: Option<u64>,
    /// Messages that workers held when they were killed. Each leaves at most one marker.
    pub(crate) orphans: usize,
    /// Whether what they held stays in processing for good: there are no leases.
    pub(crate) keeps_orphans: bool,
}

/// Payloads that ended, by the list.
pub(crate) type Ended = BTreeMap<&'static str, Vec<String>>;

impl Rest<'_> {
    /// Compares every key of the server, its content and its TTL.
    pub(crate) async fn check(&self, stage: &Stage) -> Ended {
        let mut found = scan(stage).await;
        let mut ended = Ended::new();
        for word in ["completed", "failed", "dlq"] {
            let payloads = stage.list(word).await.into_iter();
            let payloads = payloads.map(|payload| String::from_utf8(payload).expect("text"));
            ended.insert(word, payloads.collect());
            assert_eq!(
                found.remove(word),
                (!ended[word].is_empty()).then_some(-1),
                "{word}"
            );
        }
        let orphans = self.check_orphans(stage, &mut found).await;

        // Every message is in one place, once.
        let mut everywhere: Vec<&String> = ended.values().flatten().chain(&orphans).collect();
        everywhere.sort();
        assert_eq!(everywhere, self.work.payloads.iter().collect::<Vec<_>>());

        for order in &self.work.keys {
            let marker = format!("deduplication::{order}");
            let ttl = found.remove(&marker).expect("the key is remembered");
            assert!((1..=DEDUPLICATION_MS).contains(&ttl), "{marker}: {ttl} ms");
            let content = stage.run(&["GET", &key(&marker)]).await;
            assert_eq!(content, [Value::Bytes(Vec::new())], "{marker}");
        }
        assert_eq!(found.remove(COUNTER), self.tokens.map(|_| -1), "{COUNTER}");
        if let Some(least) = self.tokens {
            let counter = stage.int(&["INCRBY", &key(COUNTER), "0"]).await;
            assert!(
                counter >= least.cast_signed(),
                "{counter} of {least} tokens"
            );
        }

        // What is left are markers of the killed, and they end.
        assert!(found.len() <= self.orphans, "{found:?}");
        for (name, ttl) in found {
            let limit = if name.starts_with("processing:operation_result:") {
                SETTLEMENT_MS
            } else if self.keeps_orphans && name.starts_with("processing:claim_result:") {
                RECORD_MS
            } else {
                panic!("{name} ({ttl} ms) belongs to nothing");
            };
            assert!((1..=limit).contains(&ttl), "{name}: {ttl} ms");
            // Gone by now, or the answer of a settlement, or a message.
            let content = stage.run(&["GET", &key(&name)]).await;
            let answers = |text: &[u8]| text == b"1" || (self.keeps_orphans && text == b"0");
            match content.as_slice() {
                [Value::Nil] => {}
                [Value::Bytes(text)] if limit == RECORD_MS => drop(payload(text)),
                [Value::Bytes(text)] => assert!(answers(text), "{name}: {content:?}"),
                other => panic!("{name}: {other:?}"),
            }
        }
        ended
    }

    /// What killed workers held, and its claim records.
    async fn check_orphans(&self, stage: &Stage, found: &mut BTreeMap<String, i64>) -> Vec<String> {
        let stored = stage.list("processing").await;
        let limit = if self.keeps_orphans { self.orphans } else { 0 };
        assert!(stored.len() <= limit, "{} in processing", stored.len());
        for word in ["", ":claim_result_ids", ":claim_result_backrefs"] {
            let name = format!("processing{word}");
            assert_eq!(
                found.remove(&name),
                (!stored.is_empty()).then_some(-1),
                "{name}"
            );
        }
        let backrefs = stage.hash("claim_result_backrefs").await;
        let ids = stage.hash("claim_result_ids").await;
        let turned: BTreeMap<_, _> = ids.into_iter().map(|(id, stored)| (stored, id)).collect();
        assert_eq!(backrefs, turned, "each record has its claim id");
        assert_eq!(
            backrefs.keys().collect::<BTreeSet<_>>(),
            stored.iter().collect(),
            "each orphan has a record"
        );
        stored.iter().map(|stored| payload(stored)).collect()
    }
}

/// Every key without what it starts with in all of them, and its TTL in milliseconds or -1.
async fn scan(stage: &Stage) -> BTreeMap<String, i64> {
    let mut found = BTreeMap::new();
    let mut cursor = String::from("0");
    loop {
        let reply = stage.texts(&["SCAN", &cursor, "COUNT", "500"]).await;
        let mut reply = reply
            .into_iter()
            .map(|text| String::from_utf8(text).expect("text"));
        cursor = reply.next().expect("a cursor");
        for name in reply {
            let ttl = stage.int(&["PTTL", &name]).await;
            // -2: it ended since.
            if ttl != -2 {
                let name = name.strip_prefix(&key("")).expect("only the queue's keys");
                found.insert(name.to_owned(), ttl);
            }
        }
        if cursor == "0" {
            return found;
        }
    }
}

fn payload(stored: &[u8]) -> String {
    let json = stored.strip_prefix(b"\x1eRMQ1:").expect("an envelope");
    let envelope: serde_json::Value = serde_json::from_slice(json).expect("JSON");
    envelope["payload"].as_str().expect("text").to_owned()
}
