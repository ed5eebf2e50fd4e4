//! Deduplication across the two libraries.

use leaseline::Message;
use leaseline::message::PublishOutcome::{Duplicate, Published};
use serde_json::json;

use crate::stage::{Stage, key};

pub(crate) async fn deduplication_keys_are_the_same(stage: Stage) {
    let mut theirs = stage.theirs(json!({"deduplication": true}));
    let ours = stage.ours(|_| ()).await;

    for user_key in ["order-1", "a::b", "{tag}", "ключ 🔑", " "] {
        let marker = key(&format!("deduplication::{user_key}"));
        let mut seen = Vec::new();
        for by_us in [true, false] {
            stage.run(&["FLUSHALL"]).await;
            if by_us {
                let message = Message::text("m").deduplication_key(user_key);
                assert_eq!(ours.publish(message).await, Ok(Published));
            } else {
                assert!(theirs.publish_once("m", user_key));
            }
            stage.check_leases(1, 0).await;
            let seconds = stage.int(&["TTL", &marker]).await;
            assert!(
                (3_595..=3_600).contains(&seconds),
                "{user_key}: {seconds} s"
            );
            seen.push((stage.keys().await, stage.run(&["GET", &marker]).await));
        }
        assert_eq!(seen[0], seen[1], "{user_key}");
    }
}

pub(crate) async fn duplicates_are_refused_across(stage: Stage) {
    let mut theirs = stage.theirs(json!({"deduplication": true}));
    let ours = stage.ours(|_| ()).await;
    let message = |text, key| Message::text(text).deduplication_key(key);

    assert!(theirs.publish_once("one", "theirs"));
    assert_eq!(ours.publish(message("two", "theirs")).await, Ok(Duplicate));
    assert_eq!(ours.publish(message("three", "ours")).await, Ok(Published));
    assert!(!theirs.publish_once("four", "ours"));

    stage.check_leases(2, 0).await;
    let keys = ["pending", "deduplication::theirs", "deduplication::ours"];
    assert_eq!(stage.keys().await, keys.map(String::from).into());
}
