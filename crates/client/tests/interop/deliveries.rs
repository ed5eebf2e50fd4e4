//! Messages of one library in the hands of the other.

use leaseline::config::{Config, Log};
use leaseline::message::SettleOutcome::Done;
use serde_json::{Value, json};

use crate::samples::{ack, claim, fail, payloads, poll, publish};
use crate::stage::Stage;

/// Both logs are kept, as long as the original keeps them by default.
fn with_logs(config: &mut Config) {
    config.completed = Log::Capped(1_000);
    config.failed = Log::Capped(1_000);
}

fn with_their_logs() -> Value {
    json!({"enable_completed_queue": true, "enable_failed_queue": true})
}

fn without_leases(config: &mut Config) {
    config.visibility_timeout_ms = None;
    config.max_delivery_count = None;
}

fn without_their_leases() -> Value {
    json!({"visibility_timeout_seconds": null, "max_delivery_count": null})
}

/// A mapping and the text that the original makes of it.
fn mapping() -> (Value, &'static str) {
    let mapping = json!({"z": [1, 2.5, null, true], "a": {"é": "\"\\/"}, "m": "😀"});
    (
        mapping,
        r#"{"a": {"\u00e9": "\"\\/"}, "m": "\ud83d\ude00", "z": [1, 2.5, null, true]}"#,
    )
}

pub(crate) async fn they_take_ours(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    let payloads = payloads();
    publish(
        &ours,
        &payloads.iter().map(String::as_str).collect::<Vec<_>>(),
    )
    .await;

    let mut left = payloads.len();
    for payload in &payloads {
        let held = theirs.claim().expect("a message");
        assert_eq!(String::from_utf8_lossy(&held.payload), payload.as_str());
        stage.check_leases(left, 1).await;
        assert!(theirs.ack(&held));
        left -= 1;
        stage.check_leases(left, 0).await;
    }
}

pub(crate) async fn we_take_theirs(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    let (mapping, its_text) = mapping();
    let mut payloads = payloads();
    for payload in &payloads {
        assert!(theirs.publish(payload.as_str()));
    }
    assert!(theirs.publish(mapping));
    payloads.push(its_text.into());

    let mut left = payloads.len();
    for payload in &payloads {
        let delivery = poll(&ours).await.expect("a message");
        assert_eq!(delivery.payload.as_deref(), Ok(payload.as_bytes()));
        assert_eq!(delivery.lease.token, Some(stage.token().await));
        stage.check_leases(left, 1).await;
        assert_eq!(ack(&ours, &delivery).await, Done);
        left -= 1;
        stage.check_leases(left, 0).await;
    }
}

pub(crate) async fn logs_hold_the_same_bytes(stage: Stage) {
    let mut theirs = stage.theirs(with_their_logs());
    let ours = stage.ours(with_logs).await;
    let payloads = payloads();

    for (at, payload) in payloads.iter().enumerate() {
        // Four copies: each side publishes two and settles two, of either outcome one.
        for _ in 0..2 {
            publish(&ours, &[payload]).await;
            assert!(theirs.publish(payload.as_str()));
        }
        let held = theirs.claim().expect("a message");
        assert!(theirs.ack(&held));
        let delivery = poll(&ours).await.expect("a message");
        assert_eq!(ack(&ours, &delivery).await, Done);
        let held = theirs.claim().expect("a message");
        assert!(theirs.fail(&held));
        let delivery = poll(&ours).await.expect("a message");
        assert_eq!(fail(&ours, &delivery).await, Done);
        stage.check_leases((at + 1) * 4, 0).await;
    }

    let mut expected: Vec<&[u8]> = Vec::new();
    for payload in payloads.iter().rev() {
        expected.extend([payload.as_bytes(); 2]);
    }
    assert_eq!(stage.list("completed").await, expected);
    assert_eq!(stage.list("failed").await, expected);
}

pub(crate) async fn they_take_ours_without_leases(stage: Stage) {
    let mut theirs = stage.theirs(without_their_leases());
    let ours = stage.ours(without_leases).await;
    publish(&ours, &["one", "two", "three"]).await;

    let one = theirs.claim().expect("a message");
    let two = theirs.claim().expect("a message");
    assert_eq!(
        (one.payload.as_slice(), two.payload.as_slice()),
        (&b"one"[..], &b"two"[..])
    );
    stage.check_plain(3, 2).await;
    assert!(theirs.ack(&one));
    assert!(theirs.fail(&two));
    stage.check_plain(1, 0).await;

    // They settle what we have claimed: without leases a claim belongs to nobody.
    let three = claim(&ours).await.expect("a message");
    assert_eq!(three.lease.token, None);
    stage.check_plain(1, 1).await;
    assert!(theirs.remove(&three.lease.stored, None));
    stage.check_plain(0, 0).await;
    assert_eq!(stage.keys().await, [].into());
}

pub(crate) async fn we_take_theirs_without_leases(stage: Stage) {
    let mut theirs = stage.theirs(without_their_leases());
    let ours = stage
        .ours(|config| {
            without_leases(config);
            config.failed = Log::Unbounded;
        })
        .await;
    for text in ["one", "two"] {
        assert!(theirs.publish(text));
    }

    let one = poll(&ours).await.expect("a message");
    let two = poll(&ours).await.expect("a message");
    assert_eq!(one.payload.as_deref(), Ok(&b"one"[..]));
    assert_eq!(two.payload.as_deref(), Ok(&b"two"[..]));
    stage.check_plain(2, 2).await;
    assert_eq!(ack(&ours, &one).await, Done);
    stage.check_plain(1, 1).await;
    assert_eq!(fail(&ours, &two).await, Done);
    stage.check_plain(1, 0).await;
    assert_eq!(stage.list("failed").await, [b"two"]);
    assert_eq!(stage.keys().await, ["failed".into()].into());
}
