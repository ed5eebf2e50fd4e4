//! Bytes that are not text, and dead letters that get another chance.

use leaseline::Message;
use leaseline::message::PublishOutcome::Published;
use leaseline::message::SettleOutcome::Done;
use serde_json::json;

use crate::peer::Library;
use crate::samples::{ack, poll, publish};
use crate::stage::Stage;

const COUNTER: &str = "processing:lease_token_counter";

const BYTES: &[u8] = b"\x00\xff\xfe not text";

pub(crate) async fn they_take_our_bytes(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    assert_eq!(ours.publish(Message::bytes(BYTES)).await, Ok(Published));

    match stage.library() {
        // The field that holds bytes was added in 9.1.0.
        Library::V8_3_0 => {
            let error = theirs.claim_unreadable();
            assert!(error.starts_with("MalformedStoredMessageError"), "{error}");
            // It is not lost: it comes back to who can read it.
            stage.check_leases(1, 1).await;
            stage.expire_leases().await;
            let delivery = poll(&ours).await.expect("the lease has expired");
            assert_eq!(delivery.payload.as_deref(), Ok(BYTES));
            assert_eq!(ack(&ours, &delivery).await, Done);
        }
        Library::V11_0_1 => {
            let held = theirs.claim().expect("a message");
            assert_eq!(held.payload, BYTES);
            stage.check_leases(1, 1).await;
            assert!(theirs.ack(&held));
        }
    }
    stage.check_leases(0, 0).await;
    assert_eq!(stage.keys().await, [COUNTER.into()].into());
}

/// Whoever finds the poison buries the bytes themselves, and either wraps them again.
pub(crate) async fn letters_get_another_chance_from_either(stage: Stage) {
    let mut theirs = stage.theirs(json!({"max_delivery_count": 1}));
    let ours = stage
        .ours(|config| config.max_delivery_count = Some(1))
        .await;
    publish(&ours, &["poison \u{2620}"]).await;

    // Buried by them, redriven by us, read by them.
    poll(&ours).await.expect("the only delivery");
    stage.expire_leases().await;
    publish(&ours, &["healthy"]).await;
    let healthy = theirs.claim().expect("the next message");
    assert!(theirs.ack(&healthy));
    assert_eq!(stage.list("dlq").await, ["poison \u{2620}".as_bytes()]);
    assert_eq!(ours.redrive(10).await, Ok(1));
    stage.check_leases(1, 0).await;
    let held = theirs.claim().expect("another chance");
    assert_eq!(held.payload, "poison \u{2620}".as_bytes());
    assert!(theirs.ack(&held));
    assert_eq!(stage.keys().await, [COUNTER.into()].into());

    // 8.3.0 has no redrive; it came with 8.5.0.
    if stage.library() == Library::V8_3_0 {
        return;
    }
    // Buried by us, redriven by them, read by us: text, and bytes that are not.
    publish(&ours, &["poison \u{2620}"]).await;
    assert_eq!(ours.publish(Message::bytes(BYTES)).await, Ok(Published));
    theirs.claim().expect("the only delivery");
    theirs.claim().expect("the only delivery");
    stage.expire_leases().await;
    assert_eq!(poll(&ours).await, None);
    // Leases that end at one moment are in no order.
    let mut letters = stage.list("dlq").await;
    letters.sort();
    assert_eq!(letters, [BYTES, "poison \u{2620}".as_bytes()]);
    assert_eq!(theirs.redrive(), 2);
    stage.check_leases(2, 0).await;
    let mut payloads = Vec::new();
    for _ in 0..2 {
        let delivery = poll(&ours).await.expect("another chance");
        assert_eq!(delivery.delivery_count, 1);
        assert_eq!(ack(&ours, &delivery).await, Done);
        payloads.push(delivery.payload.expect("a payload"));
    }
    payloads.sort();
    assert_eq!(payloads, letters);
    stage.check_leases(0, 0).await;
    assert_eq!(stage.keys().await, [COUNTER.into()].into());
}
