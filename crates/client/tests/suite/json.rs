use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use leaseline::message::{Outgoing, Payload, PublishOutcome};
use leaseline::{Engine, ErrorKind, Message, Retry};
use serde::{Deserialize, Serialize};

use crate::suite;
use crate::world::*;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Order {
    total: f64,
    id: u64,
    note: Option<String>,
}

fn json(text: &str) -> Outgoing {
    Message::json_text(text).into()
}

suite! {
    async fn equal_objects_are_stored_as_the_same_text(world: World) {
        let queue = world.queue(|_| ()).await;
        let spellings = [
            r#"{"id":7,"total":1e16,"note":"é\/"}"#,
            r#" { "total" : 10000000000000000.0 , "note" : "\u00E9/" , "id" : 1 , "id" : 7 } "#,
        ];
        for reply in queue.publish_all(spellings.map(json).into()).await {
            reply.outcome.unwrap();
        }
        let order = Order { total: 1e16, id: 7, note: Some("é/".into()) };
        assert_eq!(queue.publish(Message::json(&order).unwrap()).await, Ok(PublishOutcome::Published));
        let text = r#"{"id": 7, "note": "\u00e9/", "total": 1e+16}"#;
        assert_eq!(payloads(&claim(&queue, 10).await), [text; 3]);
    }

    async fn integers_are_kept_exactly(world: World) {
        let queue = world.queue(|_| ()).await;
        let long = format!(r#"{{"n": {}}}"#, "1234567890".repeat(20));
        queue.publish(Message::json_text(long.clone())).await.unwrap();
        assert_eq!(payload(&claim_one(&queue).await), long);
    }

    async fn json_is_read_back_by_type(world: World) {
        let queue = world.queue(|_| ()).await;
        let order = Order { total: 0.1, id: 7, note: None };
        queue.publish(Message::json(&order).unwrap()).await.unwrap();
        queue.publish("not JSON").await.unwrap();
        let read = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&read);
        let done = queue
            .consumer()
            .until_empty(true)
            .run(move |delivery| {
                let order = delivery.json::<Order>();
                let id = delivery.message_id().map(String::from);
                seen.lock().unwrap().push((id, order.clone()));
                async move { order.map(drop) }
            })
            .await
            .unwrap();
        assert_eq!((done.acked, done.failed), (1, 1));
        let read = read.lock().unwrap();
        assert_eq!(read[0].1, Ok(order));
        let error = read[1].1.clone().unwrap_err();
        assert_eq!((error.kind, error.retry), (ErrorKind::MalformedMessage, Retry::No));
        assert!(error.message.contains("expected ident at line 1 column 2"), "{}", error.message);
        assert_eq!(error.message_id, read[1].0);
    }

    async fn json_that_cannot_be_published_writes_nothing(world: World) {
        let queue = world.queue(|config| {
            config.max_payload_depth = Some(2);
            config.max_payload_bytes = Some(20);
        }).await;
        let keyed = |text: &str| Outgoing {
            payload: Payload::Json(text.into()),
            deduplication_key: Some("".into()),
            ..Outgoing::default()
        };
        for (message, kind) in [
            (json("{"), ErrorKind::InvalidArgument),
            (json(r#"{"a":NaN}"#), ErrorKind::InvalidArgument),
            (json(r#"{"a":1e999}"#), ErrorKind::InvalidArgument),
            (json(r#"{"a":"\ud800"}"#), ErrorKind::InvalidArgument),
            (json("[1]"), ErrorKind::InvalidArgument),
            (json(r#"{"a":[[1]]}"#), ErrorKind::PayloadTooDeep),
            // Twenty bytes as they come, and 21 as they would be stored.
            (json(r#"{"a":12345678901234}"#), ErrorKind::PayloadTooLarge),
            // Depth comes before size, and size before the key.
            (keyed(r#"{"a":[[1234567890123456789]]}"#), ErrorKind::PayloadTooDeep),
            (keyed(r#"{"a":1234567890123456789}"#), ErrorKind::PayloadTooLarge),
            (keyed(r#"{}"#), ErrorKind::InvalidArgument),
        ] {
            let text = format!("{message:?}");
            let reply = queue.publish_all(vec![message]).await.remove(0);
            let error = reply.outcome.unwrap_err();
            assert_eq!((error.kind, error.retry), (kind, Retry::No), "{text}");
            assert_eq!(error.message_id, Some(reply.message_id));
        }
        assert!(world.keys().await.is_empty());
        queue.publish(Message::json_text(r#"{"a": 1234567890123}"#)).await.unwrap();
        let white_space = format!("{{{}}}", " ".repeat(100));
        queue.publish(Message::json_text(white_space)).await.unwrap();
        assert_eq!(payloads(&claim(&queue, 10).await), [r#"{"a": 1234567890123}"#, "{}"]);
    }
}

#[test]
fn numbers_that_json_does_not_have_are_refused() {
    #[derive(Serialize)]
    enum Shape {
        Unit,
        Newtype(f64),
        Tuple(u8, f64),
        Struct { size: f64 },
    }
    #[derive(Serialize)]
    struct Newtype(f64);
    #[derive(Serialize)]
    struct Tuple(f64, u8);

    fn refused(value: &impl Serialize) {
        let error = Message::json(&BTreeMap::from([("key", value)])).unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidArgument);
        assert!(
            error.message.contains("JSON has no number"),
            "{}",
            error.message
        );
    }
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        refused(&number);
        refused(&(number as f32));
        refused(&Some(number));
        refused(&[0.0, number]);
        refused(&(1, "text", number));
        refused(&BTreeMap::from([(1, number)]));
        refused(&Newtype(number));
        refused(&Tuple(number, 1));
        refused(&Order {
            total: number,
            id: 1,
            note: None,
        });
        refused(&Shape::Newtype(number));
        refused(&Shape::Tuple(1, number));
        refused(&Shape::Struct { size: number });
        assert!(Message::json(&BTreeMap::from([("key", Shape::Unit)])).is_ok());
    }
    // Keys that are no text.
    let keys = Message::json(&BTreeMap::from([([1, 2], 1)])).unwrap_err();
    assert!(
        keys.message.contains("key must be a string"),
        "{}",
        keys.message
    );
}
