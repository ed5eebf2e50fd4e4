//! The spans of a queue, as a subscriber sees them.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseline::message::{Outgoing, SettleRequest, Settlement};
use leaseline::{Engine, Handled, Queue};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Name and fields of each span, in the order in which they began.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Seen>>>);

#[derive(Debug, Default)]
struct Seen {
    name: &'static str,
    parent: Option<&'static str>,
    fields: BTreeMap<&'static str, String>,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.into());
    }
}

thread_local! {
    static ENTERED: Mutex<Vec<u64>> = const { Mutex::new(Vec::new()) };
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target() == "leaseline"
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut spans = self.0.lock().unwrap();
        let parent = ENTERED.with(|entered| entered.lock().unwrap().last().copied());
        let mut seen = Seen {
            name: attributes.metadata().name(),
            parent: parent.map(|id| spans[id as usize - 1].name),
            ..Seen::default()
        };
        attributes.record(&mut seen);
        spans.push(seen);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        values.record(&mut self.0.lock().unwrap()[id.into_u64() as usize - 1]);
    }

    fn enter(&self, id: &Id) {
        ENTERED.with(|entered| entered.lock().unwrap().push(id.into_u64()));
    }

    fn exit(&self, _: &Id) {
        ENTERED.with(|entered| entered.lock().unwrap().pop());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}
}

impl Spans {
    /// The spans of a name: outcome, then these fields.
    fn of(&self, name: &str, fields: &[&str]) -> Vec<Vec<String>> {
        let spans = self.0.lock().unwrap();
        spans
            .iter()
            .filter(|seen| seen.name == name)
            .inspect(|seen| assert_eq!(seen.fields["queue"], "q", "{seen:?}"))
            .map(|seen| {
                let value = |field: &&str| seen.fields.get(*field).cloned().unwrap_or_default();
                ["outcome"].iter().chain(fields).map(value).collect()
            })
            .collect()
    }
}

async fn every_step_has_its_span(engine: Engine) {
    let spans = Spans::default();
    let _recording = tracing::subscriber::set_default(spans.clone());
    let queue = Queue::builder("q").engine(engine).open().await.unwrap();
    let message = |payload: &str, key: &str| Outgoing {
        payload: payload.into(),
        deduplication_key: Some(key.into()),
        ..Outgoing::default()
    };
    let one = queue.publish_all(vec![message("a", "1")]).await.remove(0);
    let id = one.message_id.as_str();
    queue
        .publish_all(vec![
            message("again", "1"),
            message("b", "2"),
            message("c", "3"),
        ])
        .await;
    queue.publish(vec![b'x'; 17 << 20]).await.unwrap_err();
    queue
        .consumer()
        .until_empty(true)
        .heartbeat(Some(Duration::from_millis(20)))
        .run(|delivery| async move {
            match delivery.payload() {
                b"a" => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    Handled::Ack
                }
                b"b" => Handled::Fail("on purpose".into()),
                _ => Handled::RetryAfter(Duration::from_secs(3_600)),
            }
        })
        .await
        .unwrap();
    queue.publish("d").await.unwrap();
    let claimed = queue.claim(1, Duration::ZERO).await.unwrap().remove(0);
    for _ in 0..2 {
        let request = SettleRequest {
            lease: claimed.lease.clone(),
            settlement: Settlement::Ack,
            reason: None,
        };
        queue.settle(vec![request]).await.remove(0).unwrap();
    }
    queue.drain(Duration::from_secs(60)).await.unwrap();

    let published = spans.of("publish", &["messages", "error.kind"]);
    assert_eq!(
        published,
        [
            ["published", "1", ""],
            ["duplicate 1, published 2", "3", ""],
            ["error", "1", "payload_too_large"],
            ["published", "1", ""],
        ]
    );
    assert_eq!(spans.of("publish", &["message_id"])[0][1], id);
    let claims = spans.of(
        "claim",
        &["messages", "message_id", "token", "delivery_count"],
    );
    assert_eq!(claims[0], ["claimed", "1", id, "1", "1"]);
    assert!(claims.iter().any(|claim| claim[0] == "empty"), "{claims:?}");
    let handled = spans.of("handle", &["token", "delivery_count"]);
    assert_eq!(
        handled,
        [
            ["acked", "1", "1"],
            ["failed", "2", "1"],
            ["released", "3", "1"]
        ]
    );
    assert_eq!(spans.of("handle", &["message_id"])[0][1], id);
    let settled = spans.of("settle", &["token"]);
    // The release took a token too.
    assert_eq!(
        settled,
        [
            ["acked", "1"],
            ["failed", "2"],
            ["acked", "5"],
            ["stale", "5"]
        ]
    );
    assert_eq!(spans.of("release", &["token"]), [["released", "3"]]);
    let renewed = spans.of("renew", &["message_id", "token"]);
    // The last one may have been dropped, or refused, when its handler ended.
    let of_a =
        |one: &Vec<String>| one[1..] == [id, "1"] && ["renewed", "", "stale"].contains(&&*one[0]);
    assert!(renewed.iter().all(of_a), "{renewed:?}");
    assert_eq!(renewed[0][0], "renewed");
    assert_eq!(spans.of("drain", &[]), [["drained"]]);
    let spans = spans.0.lock().unwrap();
    let settles: Vec<_> = spans
        .iter()
        .filter(|seen| seen.name == "settle")
        .map(|seen| seen.parent)
        .collect();
    assert_eq!(settles, [Some("handle"), Some("handle"), None, None]);
}

#[tokio::test]
async fn every_step_has_its_span_native() {
    every_step_has_its_span(Engine::Native).await;
}

#[tokio::test]
async fn every_step_has_its_span_component() {
    every_step_has_its_span(Engine::Component).await;
}
