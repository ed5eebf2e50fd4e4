//! Messages that this library released or published with a delay: the original knows neither, and
//! needs to know neither.

use std::time::Duration;

use leaseline::Message;
use leaseline::message::Lease;
use leaseline::message::PublishOutcome::Published;
use leaseline::message::SettleOutcome::{Done, Stale};
use serde_json::json;

use crate::samples::{ack, claim, poll, publish, release};
use crate::stage::Stage;

const COUNTER: &str = "processing:lease_token_counter";

const HOUR_MS: u64 = 3_600_000;

/// With real time: the original waits for the message, and gets it when it is due.
pub(crate) async fn they_get_what_we_released_when_it_is_due(stage: Stage) {
    let mut theirs = stage.theirs(json!({"max_delivery_count": 3}));
    let ours = stage
        .ours(|config| config.max_delivery_count = Some(3))
        .await;
    publish(&ours, &["later"]).await;
    let delivery = poll(&ours).await.expect("a message");
    let due = release(&ours, &delivery.lease, 1_500).await;

    let held = theirs.claim().expect("the delay is over");
    assert!(stage.now_ms().await >= due, "they got it before it was due");
    assert_eq!(held.payload, b"later");
    // Nothing of the release is left: everything belongs to their claim.
    stage.check_leases(1, 1).await;
    assert_eq!(ack(&ours, &delivery).await, Stale);
    let counts = stage.hash("delivery_counts").await;
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [b"2"]);
    assert!(theirs.ack(&held));
    assert_eq!(stage.keys().await, [COUNTER.into()].into());
}

/// With real time: the original waits for the message, and gets it when it is due.
pub(crate) async fn they_get_what_we_published_for_later(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    let began = stage.now_ms().await;
    let message = Message::text("later").delay(Duration::from_millis(1_500));
    assert_eq!(ours.publish(message).await, Ok(Published));

    let held = theirs.claim().expect("the delay is over");
    let now = stage.now_ms().await;
    assert!(now >= began + 1_500, "they got it before it was due");
    assert_eq!(held.payload, b"later");
    stage.check_leases(1, 1).await;
    let counts = stage.hash("delivery_counts").await;
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [b"1"]);
    assert!(theirs.ack(&held));
    assert_eq!(stage.keys().await, [COUNTER.into()].into());
}

pub(crate) async fn we_release_what_they_hold(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    assert!(theirs.publish("one"));

    let held = theirs.claim().expect("a message");
    let lease = Lease {
        stored: stage.list("processing").await.remove(0),
        token: Some(stage.token().await),
        deadline_ms: None,
        not_after_ms: None,
    };
    release(&ours, &lease, HOUR_MS).await;
    let token = lease.token.as_deref().expect("a token");
    assert!(!theirs.renew(&lease.stored, token));
    assert!(!theirs.ack(&held));
    assert_eq!(poll(&ours).await, None);
    for word in ["refs", "ids", "backrefs"] {
        let left = stage.hash(&format!("claim_result_{word}")).await;
        assert_eq!(left, [].into(), "{word} of their claim");
    }

    stage.expire_leases().await;
    let delivery = claim(&ours).await.expect("the delay is over");
    assert_eq!(delivery.delivery_count, 2);
    stage.check_leases(1, 1).await;
    assert_eq!(ack(&ours, &delivery).await, Done);
    stage.check_leases(0, 0).await;
}

/// Their drain resets the tokens of an idle queue; a queue with a delayed message is not idle.
pub(crate) async fn their_drain_keeps_a_delay(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    publish(&ours, &["later"]).await;
    let delivery = poll(&ours).await.expect("a message");
    release(&ours, &delivery.lease, HOUR_MS).await;

    assert!(theirs.drain());
    assert!(stage.keys().await.contains(COUNTER), "a message is delayed");
    assert_eq!(ours.stats().await.expect("stats").delayed, 1);
    assert_eq!(poll(&ours).await, None);
}
