//! What a publish stores.

use leaseline::{ErrorKind, Message};
use serde_json::json;

use crate::samples::{payloads, publish};
use crate::stage::Stage;

pub(crate) async fn envelopes_are_the_same_bytes(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;

    let payloads = payloads();
    let texts: Vec<&str> = payloads.iter().map(String::as_str).collect();
    let ids = publish(&ours, &texts).await;
    let stored = stage.list("pending").await;

    assert_eq!(stored.len(), texts.len());
    for ((id, text), stored) in ids.iter().zip(texts).zip(stored.iter().rev()) {
        assert!(is_id(id), "{id}");
        assert_eq!(
            String::from_utf8_lossy(stored),
            String::from_utf8_lossy(&theirs.envelope(id, text)),
        );
    }
    stage.check_leases(payloads.len(), 0).await;
}

/// Objects in spellings that neither library would write.
const OBJECTS: [&str; 8] = [
    "{}",
    r#" { "b" : [ 1 , 2.50 , -0 , -0.0 , true , null ] , "a" : { } } "#,
    r#"{"x":1e16,"y":1E15,"z":0.00001,"w":0.0001,"v":5e-324,"u":1e22}"#,
    r#"{"n":123456789012345678901234567890123456789,"m":-9007199254740993}"#,
    r#"{"a":1,"\u0061":2,"A":3}"#,
    r#"{"é":"ünï/\"x\"","漢":"\u007f\u0080","\ud83d\ude00":"😀\n\t\u0000"}"#,
    "{\"\u{10000}\":1,\"\u{ffff}\":2}",
    r#"{"id":"ord-1","z":[1,2.5,true,null],"nested":{"c":{"b":[{"a":[]}]}}}"#,
];

pub(crate) async fn json_is_the_same_text(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    for object in OBJECTS {
        ours.publish(Message::json_text(object))
            .await
            .expect(object);
        theirs.publish_json(object).expect(object);
        let stored = stage.list("pending").await;
        let payload = |stored: &[u8]| {
            let json = stored.strip_prefix(b"\x1eRMQ1:").expect("an envelope");
            let envelope: serde_json::Value = serde_json::from_slice(json).expect("JSON");
            envelope["payload"].as_str().expect("text").to_owned()
        };
        assert_eq!(payload(&stored[1]), payload(&stored[0]), "{object}");
    }
}

pub(crate) async fn json_has_the_same_limits(stage: Stage) {
    let mut theirs = stage.theirs(json!({"max_payload_depth": 2, "max_payload_bytes": 36}));
    let ours = stage
        .ours(|config| {
            config.max_payload_depth = Some(2);
            config.max_payload_bytes = Some(36);
        })
        .await;
    for (text, refusal) in [
        ("{}", None),
        (r#"{"a":{"b":1}}"#, None),
        (r#"{"a":[[],{}]}"#, None),
        (
            r#"{"a":[[1]]}"#,
            Some(("PayloadTooDeepError", ErrorKind::PayloadTooDeep)),
        ),
        (
            r#"{"a":{"b":{"c":1}}}"#,
            Some(("PayloadTooDeepError", ErrorKind::PayloadTooDeep)),
        ),
        // 36 bytes and 37 as they are stored; short as they come.
        (r#"{"a":"ééé","b":12}"#, None),
        (
            r#"{"a":"ééé","b":123}"#,
            Some(("PayloadTooLargeError", ErrorKind::PayloadTooLarge)),
        ),
        (
            r#"{"a":[[1]],"b":"01234567890123456789"}"#,
            Some(("PayloadTooDeepError", ErrorKind::PayloadTooDeep)),
        ),
        (
            r#"{"a":1e999}"#,
            Some(("ValueError", ErrorKind::InvalidArgument)),
        ),
        (
            r#"{"a":NaN}"#,
            Some(("ValueError", ErrorKind::InvalidArgument)),
        ),
        ("[1]", Some(("TypeError", ErrorKind::InvalidArgument))),
    ] {
        let (their_error, our_kind) = refusal.unzip();
        assert_eq!(
            theirs.publish_json(text).err().as_deref(),
            their_error,
            "{text}"
        );
        let published = ours.publish(Message::json_text(text)).await;
        assert_eq!(published.err().map(|error| error.kind), our_kind, "{text}");
    }
}

/// 32 lowercase hexadecimal digits.
fn is_id(id: &str) -> bool {
    id.len() == 32
        && id
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
