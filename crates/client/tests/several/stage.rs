//! What the tests share.

use std::time::{Duration, Instant};

use leaseline::message::{Delivery, Outgoing, SettleOutcome, SettleRequest, Settlement};
use leaseline::{Config, Engine, Queue};

/// How long a test waits for what must happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Longer than any test.
pub(crate) const FOR_EVER: Duration = Duration::from_secs(3_600);

/// The queue `{q}`.
pub(crate) async fn open(url: &str, engine: Engine, change: impl FnOnce(&mut Config)) -> Queue {
    let builder = Queue::builder("{q}").redis(url).engine(engine);
    let slow_and_fair = |config: &mut Config| {
        config.command_timeout_ms = 2_000;
        config.retry_max_delay_ms = 200;
        change(config);
    };
    builder.configure(slow_and_fair).open().await.unwrap()
}

pub(crate) async fn publish(queue: &Queue, payloads: &[&str]) {
    let message = |payload: &&str| Outgoing {
        payload: (*payload).into(),
        ..Outgoing::default()
    };
    for reply in queue
        .publish_all(payloads.iter().map(message).collect())
        .await
    {
        reply.outcome.unwrap();
    }
}

pub(crate) async fn claim_one(queue: &Queue) -> Delivery {
    let claimed = queue.claim(1, Duration::from_secs(10)).await.unwrap();
    claimed.into_iter().next().expect("a message to claim")
}

pub(crate) async fn settle(
    queue: &Queue,
    delivery: &Delivery,
    settlement: Settlement,
) -> SettleOutcome {
    let request = SettleRequest {
        lease: delivery.lease.clone(),
        settlement,
        reason: None,
    };
    queue.settle(vec![request]).await.pop().unwrap().unwrap()
}

pub(crate) fn payload(delivery: &Delivery) -> String {
    String::from_utf8(delivery.payload.clone().unwrap()).unwrap()
}

/// Waits until something is so.
pub(crate) async fn until<F: Future<Output = bool>>(what: &str, is_so: impl Fn() -> F) {
    let limit = Instant::now() + PATIENCE;
    while !is_so().await {
        assert!(Instant::now() < limit, "never so: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
