//! Stored messages of any writer: what a claim reads from them, and what the claim script, which
//! reads them too, puts among the dead letters.

use leaseline::capability::{Redis, Value};
use leaseline::config::Log;
use leaseline::message::{Outgoing, Settlement};
use leaseline::{Engine, ErrorKind};

use crate::suite;
use crate::world::*;

const PREFIX: &str = "\u{1e}RMQ1:";

/// What a reader makes of an envelope.
type Read<'a> = Option<&'a [u8]>;

/// Envelopes with their payloads; `None` is a malformed one, which is dead-lettered as a whole.
const ENVELOPES: [(&str, Read<'_>); 26] = [
    (r#"{"id":"1","payload":"p"}"#, Some(b"p")),
    (r#"{"id":"2","payload":""}"#, Some(b"")),
    (r#" { "payload" : "\u0070\/" , "id" : "3" } "#, Some(b"p/")),
    (
        r#"{"id":"4","payload":"\u0000\u001e\u007f"}"#,
        Some(b"\0\x1e\x7f"),
    ),
    (
        r#"{"id":"5","payload":"\u00e9\ud83d\ude00"}"#,
        Some("é😀".as_bytes()),
    ),
    (r#"{"id":"6","payload":"é😀"}"#, Some("é😀".as_bytes())),
    (
        r#"{"id":"7","payload":"x","more":{"payload":["y"]},"payload":"p"}"#,
        Some(b"p"),
    ),
    (
        r#"{"id":"","payload":"without an id"}"#,
        Some(b"without an id"),
    ),
    // From 9.1.0 on.
    (r#"{"id":"8","payload_hex":"00ff80"}"#, Some(b"\0\xff\x80")),
    (r#"{"payload_hex":"00FF81","id":"9"}"#, Some(b"\0\xff\x81")),
    (r#"{"id":"10","payload_hex":""}"#, Some(b"")),
    (
        r#"{"id":"11","payload_hex":"61","payload_hex":"62"}"#,
        Some(b"b"),
    ),
    (r#"{"id":"12","payload_hex":"\u0036\u0031"}"#, Some(b"a")),
    (r#"{"id":"13","payload_hex":"6"}"#, None),
    (r#"{"id":"14","payload_hex":"6g"}"#, None),
    (r#"{"id":"15","payload_hex":"61 62"}"#, None),
    (r#"{"id":"16","payload_hex":61}"#, None),
    (r#"{"id":"17","payload_hex":null}"#, None),
    (r#"{"payload_hex":"61"}"#, None),
    // One of the two, never both.
    (r#"{"id":"18","payload":"p","payload_hex":"61"}"#, None),
    (r#"{"id":"19","payload":"p","payload_hex":null}"#, None),
    (r#"{"id":"20","payload":null,"payload_hex":"61"}"#, None),
    // No text.
    (r#"{"id":"21","payload":"\ud800"}"#, None),
    (r#"{"id":"\udfff","payload":"p"}"#, None),
    (r#"{"id":"22","payload":"p"} x"#, None),
    (r#"["id","payload"]"#, None),
];

fn stored(json: &str) -> String {
    format!("{PREFIX}{json}")
}

suite! {
    async fn the_client_and_the_scripts_read_envelopes_alike(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = Some(1)).await;
        let raw = "\u{1e}RMQ2:no envelope of ours";
        for (json, _) in ENVELOPES {
            world.redis(&["LPUSH", "q::pending", &stored(json)]).await;
        }
        world.redis(&["LPUSH", "q::pending", raw]).await;

        let mut cases = ENVELOPES.to_vec();
        cases.push(("", Some(raw.as_bytes())));
        let claimed = claim(&queue, 100).await;
        assert_eq!(claimed.len(), cases.len());
        for (delivery, (json, read)) in claimed.iter().zip(&cases) {
            let kind = delivery.payload.as_deref().map_err(|error| error.kind);
            assert_eq!(kind, read.ok_or(ErrorKind::MalformedMessage), "{json}");
        }

        world.expire_leases().await;
        assert!(claim(&queue, 100).await.is_empty());
        let mut letters: Vec<Vec<u8>> =
            world.redis(&["LRANGE", "q::dlq", "0", "-1"]).await.into_iter().map(bytes).collect();
        let whole = |(json, read): &(&str, Read<'_>)| read.map_or(stored(json).into(), Vec::from);
        let mut expected: Vec<Vec<u8>> = cases.iter().map(whole).collect();
        letters.sort();
        expected.sort();
        let shown = |list: &[Vec<u8>]| {
            list.iter().map(|bytes| bytes.escape_ascii().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(shown(&letters), shown(&expected));
    }

    async fn strict_decoding_takes_envelopes_only(world: World) {
        let queue = world.queue(|config| config.strict_envelope_decoding = true).await;
        world.redis(&["LPUSH", "q::pending", "raw"]).await;
        publish(&queue, &["enveloped"]).await;
        let claimed = claim(&queue, 2).await;
        let kind = claimed[0].payload.as_ref().map_err(|error| error.kind);
        assert_eq!(kind, Err(ErrorKind::MalformedMessage));
        assert_eq!(payload(&claimed[1]), "enveloped");
    }

    async fn bytes_keep_their_form_through_dead_letters_and_redrive(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = Some(1)).await;
        let payload = b"\xab\xcd\0\xef".to_vec();
        let message = Outgoing { payload: payload.clone().into(), ..Outgoing::default() };
        let reply = queue.publish_all(vec![message]).await.remove(0);
        reply.outcome.unwrap();
        let written = |id: &str| stored(&format!(r#"{{"id":"{id}","payload_hex":"abcd00ef"}}"#));
        assert_eq!(world.list("q::pending").await, [written(&reply.message_id)]);

        claim_one(&queue).await;
        world.expire_leases().await;
        assert!(claim(&queue, 1).await.is_empty());
        assert_eq!(world.redis(&["LINDEX", "q::dlq", "0"]).await, [Value::Bytes(payload.clone())]);

        assert_eq!(queue.redrive(1).await, Ok(1));
        let again = claim_one(&queue).await;
        assert_eq!(again.payload, Ok(payload));
        let id = again.message_id.clone().unwrap();
        assert_ne!(id, reply.message_id);
        assert_eq!(again.lease.stored, written(&id).into_bytes());
    }

    async fn logs_hold_the_bytes_of_a_payload(world: World) {
        let queue = world.queue(|config| config.completed = Log::Unbounded).await;
        let malformed = stored(r#"{"id":"i","payload_hex":"6"}"#);
        world.redis(&["LPUSH", "q::pending", &malformed]).await;
        let raw: &[u8] = b"raw \xff";
        world.connection.execute(&[b"LPUSH", b"q::pending", raw], 5_000).await.unwrap();
        world.redis(&["LPUSH", "q::pending", &stored(r#"{"id":"j","payload_hex":"fe"}"#)]).await;
        for delivery in claim(&queue, 3).await {
            settle(&queue, &delivery.lease, Settlement::Ack).await.unwrap();
        }
        assert_eq!(world.redis(&["LRANGE", "q::completed", "0", "-1"]).await, [
            Value::Bytes(b"\xfe".to_vec()),
            Value::Bytes(raw.into()),
            Value::Bytes(malformed.into_bytes()),
        ]);
    }
}
