//! What is left in Redis when everything is settled.

use std::time::Duration;

use leaseline::Message;
use leaseline::config::Log;
use leaseline::message::PublishOutcome::Published;
use leaseline::message::SettleOutcome::Done;
use serde_json::json;

use crate::samples::{ack, fail, poll, publish};
use crate::stage::Stage;

const COUNTER: &str = "processing:lease_token_counter";

const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn only_the_counter_is_left(stage: Stage) {
    let mut theirs = stage.theirs(json!({"deduplication": true, "enable_completed_queue": true}));
    let ours = stage
        .ours(|config| config.completed = Log::Capped(1_000))
        .await;

    assert!(theirs.publish_once("one", "theirs"));
    let message = Message::text("two").deduplication_key("ours");
    assert_eq!(ours.publish(message).await, Ok(Published));
    publish(&ours, &["three", "four"]).await;

    // One that each acks, one that each fails; one passes from hand to hand before.
    let one = poll(&ours).await.expect("a message");
    let two = theirs.claim().expect("a message");
    stage.check_leases(4, 2).await;
    assert_eq!(ack(&ours, &one).await, Done);
    stage.expire_leases().await;
    let two_again = poll(&ours).await.expect("a message");
    assert!(!theirs.ack(&two));
    assert_eq!(fail(&ours, &two_again).await, Done);
    let three = theirs.claim().expect("a message");
    assert!(theirs.fail(&three));
    let four = theirs.claim().expect("a message");
    assert!(theirs.ack(&four));

    stage.check_leases(2, 0).await;
    assert_eq!(stage.list("completed").await, [&b"four"[..], b"one"]);
    let left = [
        "completed",
        "deduplication::ours",
        "deduplication::theirs",
        COUNTER,
    ];
    assert_eq!(stage.keys().await, left.map(String::from).into());
    let claims = stage
        .run(&["GET", "shared::processing:lease_token_counter"])
        .await;
    assert_eq!(claims, [leaseline::capability::Value::Bytes(b"5".to_vec())]);
}

pub(crate) async fn they_drop_the_counter_after_us(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    publish(&ours, &["one"]).await;
    let delivery = poll(&ours).await.expect("a message");

    assert!(theirs.drain());
    assert!(stage.keys().await.contains(COUNTER), "a lease is out");
    stage.check_leases(1, 1).await;
    assert_eq!(ack(&ours, &delivery).await, Done);
    assert_eq!(stage.keys().await, [COUNTER.into()].into());
    assert!(theirs.drain());
    assert_eq!(stage.keys().await, [].into());
}

pub(crate) async fn we_drop_the_counter_after_them(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    assert!(theirs.publish("one"));
    let held = theirs.claim().expect("a message");

    assert_eq!(ours.drain(DRAIN_TIMEOUT).await, Ok(true));
    assert!(stage.keys().await.contains(COUNTER), "a lease is out");
    stage.check_leases(1, 1).await;
    assert!(theirs.ack(&held));
    assert_eq!(stage.keys().await, [COUNTER.into()].into());
    assert_eq!(ours.drain(DRAIN_TIMEOUT).await, Ok(true));
    assert_eq!(stage.keys().await, [].into());
}
