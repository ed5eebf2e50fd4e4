//! Payloads that are hard to write, and short forms for what every case does.

use std::time::Duration;

use leaseline::Queue;
use leaseline::message::{
    Delivery, Lease, Outgoing, ReleaseOutcome, ReleaseRequest, SettleOutcome, SettleRequest,
    Settlement,
};

/// Texts on which JSON writers differ.
pub(crate) fn payloads() -> Vec<String> {
    let controls: String = (0..0x20).map(char::from).collect();
    let texts = [
        "",
        " ",
        "plain",
        r#"{"a": "quotes \" and \\ backslashes", "b": "a/b"}"#,
        "DEL \u{7f}, C1 \u{80} \u{9f}",
        "é ß 漢字 \u{2028}\u{2029} \u{feff} \u{fffd} \u{ffff}",
        "\u{10000} 😀 👩‍👩‍👧 \u{10ffff}",
        "\u{1e}RMQ1:{\"id\":\"x\",\"payload\":\"an envelope as payload\"}",
    ];
    texts
        .into_iter()
        .map(String::from)
        .chain([controls, "long ü ".repeat(10_000)])
        .collect()
}

/// Publishes texts in order and gives their ids.
pub(crate) async fn publish(queue: &Queue, texts: &[&str]) -> Vec<String> {
    let outgoing = |text: &&str| Outgoing {
        payload: (*text).into(),
        ..Outgoing::default()
    };
    let replies = queue
        .publish_all(texts.iter().map(outgoing).collect())
        .await;
    let id = |reply: leaseline::message::PublishReply| {
        reply.outcome.expect("it is published");
        reply.message_id
    };
    replies.into_iter().map(id).collect()
}

/// Takes the next message. Waits long enough for a lease of one second to expire.
pub(crate) async fn claim(queue: &Queue) -> Option<Delivery> {
    queue
        .claim(1, Duration::from_secs(10))
        .await
        .expect("the claim succeeds")
        .pop()
}

/// Takes the next message if there is one now.
pub(crate) async fn poll(queue: &Queue) -> Option<Delivery> {
    queue
        .claim(1, Duration::ZERO)
        .await
        .expect("the claim succeeds")
        .pop()
}

/// Acknowledges a message.
pub(crate) async fn ack(queue: &Queue, delivery: &Delivery) -> SettleOutcome {
    settle(queue, delivery, Settlement::Ack).await
}

/// Ends a message as failed.
pub(crate) async fn fail(queue: &Queue, delivery: &Delivery) -> SettleOutcome {
    settle(queue, delivery, Settlement::Fail).await
}

/// Releases a lease. Gives when its message is due, by the server's clock.
pub(crate) async fn release(queue: &Queue, lease: &Lease, delay_ms: u64) -> u64 {
    let request = ReleaseRequest {
        lease: lease.clone(),
        delay_ms,
    };
    match queue.release(vec![request]).await[..] {
        [Ok(ReleaseOutcome::Released(due_ms))] => due_ms,
        ref other => panic!("not released: {other:?}"),
    }
}

async fn settle(queue: &Queue, delivery: &Delivery, settlement: Settlement) -> SettleOutcome {
    let request = SettleRequest {
        lease: delivery.lease.clone(),
        settlement,
        reason: None,
    };
    let outcome = queue.settle(vec![request]).await.pop();
    outcome
        .expect("one answer")
        .expect("the settlement succeeds")
}
