//! Leases that pass from one library to the other.

use leaseline::message::SettleOutcome::{Done, Stale};
use leaseline::message::{Lease, RenewOutcome, SettleRequest, Settlement};
use serde_json::json;

use crate::samples::{ack, claim, poll, publish};
use crate::stage::Stage;

const LONG_MS: Option<u64> = Some(300_000);

fn number(token: Option<&str>) -> u64 {
    token.expect("a token").parse().expect("a number")
}

/// With real time: a lease of one second runs out after its holder was killed.
pub(crate) async fn a_killed_original_is_replaced(stage: Stage) {
    let mut theirs = stage.theirs(json!({"visibility_timeout_seconds": 1}));
    let ours = stage
        .ours(|config| config.visibility_timeout_ms = LONG_MS)
        .await;
    assert!(theirs.publish("work"));

    theirs.claim().expect("a message");
    stage.check_leases(1, 1).await;
    let their_token = stage.token().await;
    theirs.kill();

    let delivery = claim(&ours).await.expect("the lease has expired");
    assert_eq!(delivery.payload.as_deref(), Ok(&b"work"[..]));
    assert_eq!(delivery.delivery_count, 2);
    assert!(number(delivery.lease.token.as_deref()) > number(Some(&their_token)));
    stage.check_leases(1, 1).await;
    assert_eq!(ack(&ours, &delivery).await, Done);
    stage.check_leases(0, 0).await;
}

/// With real time: a lease of one second runs out while its holder still works.
pub(crate) async fn their_late_ack_is_refused(stage: Stage) {
    let mut theirs = stage.theirs(json!({"visibility_timeout_seconds": 1}));
    let ours = stage
        .ours(|config| config.visibility_timeout_ms = LONG_MS)
        .await;
    publish(&ours, &["work"]).await;

    let held = theirs.claim().expect("a message");
    let their_token = stage.token().await;
    let delivery = claim(&ours).await.expect("the lease has expired");

    assert!(!theirs.ack(&held));
    assert!(!theirs.renew(&delivery.lease.stored, &their_token));
    stage.check_leases(1, 1).await;
    assert_eq!(ack(&ours, &delivery).await, Done);
    stage.check_leases(0, 0).await;
}

/// With real time, the other way round.
pub(crate) async fn our_late_ack_is_refused(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage
        .ours(|config| config.visibility_timeout_ms = Some(1_000))
        .await;
    assert!(theirs.publish("work"));

    let delivery = poll(&ours).await.expect("a message");
    stage.check_leases(1, 1).await;
    let held = theirs.claim().expect("the lease has expired");
    assert_eq!(held.payload, b"work");
    assert!(number(Some(&stage.token().await)) > number(delivery.lease.token.as_deref()));

    assert_eq!(ack(&ours, &delivery).await, Stale);
    assert_eq!(
        ours.renew(vec![delivery.lease]).await,
        [Ok(RenewOutcome::Stale)]
    );
    stage.check_leases(1, 1).await;
    assert!(theirs.ack(&held));
    stage.check_leases(0, 0).await;
}

/// Each finds and removes every piece of metadata that the other has written.
pub(crate) async fn either_settles_a_claim_of_the_other(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage.ours(|_| ()).await;
    publish(&ours, &["one", "two"]).await;

    let held = theirs.claim().expect("a message");
    let lease = Lease {
        stored: stage.list("processing").await.remove(0),
        token: Some(stage.token().await),
        deadline_ms: None,
        not_after_ms: None,
    };
    let request = SettleRequest {
        lease,
        settlement: Settlement::Ack,
        reason: None,
    };
    assert_eq!(ours.settle(vec![request]).await, [Ok(Done)]);
    stage.check_leases(1, 0).await;
    assert!(!theirs.ack(&held));

    let lease = poll(&ours).await.expect("a message").lease;
    assert!(theirs.remove(&lease.stored, lease.token.as_deref()));
    stage.check_leases(0, 0).await;
    let left = ["processing:lease_token_counter".into()];
    assert_eq!(stage.keys().await, left.into());
}

pub(crate) async fn either_renews_a_lease_of_the_other(stage: Stage) {
    let mut theirs = stage.theirs(json!({}));
    let ours = stage
        .ours(|config| config.visibility_timeout_ms = LONG_MS)
        .await;
    publish(&ours, &["one"]).await;

    theirs.claim().expect("a message");
    stage.expire_leases().await;
    let lease = Lease {
        stored: stage.list("processing").await.remove(0),
        token: Some(stage.token().await),
        deadline_ms: None,
        not_after_ms: None,
    };
    let renewed = ours.renew(vec![lease.clone()]).await;
    assert!(
        matches!(renewed[..], [Ok(RenewOutcome::Renewed(_))]),
        "{renewed:?}"
    );
    assert_eq!(poll(&ours).await, None);

    stage.expire_leases().await;
    let delivery = poll(&ours).await.expect("the lease has expired");
    stage.expire_leases().await;
    let token = delivery.lease.token.as_deref().expect("a token");
    assert!(theirs.renew(&delivery.lease.stored, token));
    assert_eq!(poll(&ours).await, None);
    assert_eq!(ack(&ours, &delivery).await, Done);
    stage.check_leases(0, 0).await;
}

pub(crate) async fn they_dead_letter_what_both_took(stage: Stage) {
    let mut theirs = stage.theirs(json!({"max_delivery_count": 2}));
    let ours = stage
        .ours(|config| config.max_delivery_count = Some(2))
        .await;
    publish(&ours, &["poison ☠"]).await;

    theirs.claim().expect("the first delivery");
    stage.expire_leases().await;
    let delivery = poll(&ours).await.expect("the second delivery");
    assert_eq!(delivery.delivery_count, 2);
    stage.check_leases(1, 1).await;
    stage.expire_leases().await;

    publish(&ours, &["healthy"]).await;
    assert_eq!(
        theirs.claim().expect("the next message").payload,
        b"healthy"
    );
    assert_eq!(stage.list("dlq").await, ["poison ☠".as_bytes()]);
    stage.check_leases(2, 1).await;
    assert_eq!(ack(&ours, &delivery).await, Stale);
}

pub(crate) async fn we_dead_letter_what_both_took(stage: Stage) {
    let mut theirs = stage.theirs(json!({"max_delivery_count": 2}));
    let ours = stage
        .ours(|config| config.max_delivery_count = Some(2))
        .await;
    assert!(theirs.publish("poison ☠"));

    assert_eq!(
        poll(&ours)
            .await
            .expect("the first delivery")
            .delivery_count,
        1
    );
    stage.expire_leases().await;
    let held = theirs.claim().expect("the second delivery");
    stage.check_leases(1, 1).await;
    stage.expire_leases().await;

    assert!(theirs.publish("healthy"));
    let delivery = poll(&ours).await.expect("the next message");
    assert_eq!(delivery.payload.as_deref(), Ok(&b"healthy"[..]));
    assert_eq!(stage.list("dlq").await, ["poison ☠".as_bytes()]);
    stage.check_leases(2, 1).await;
    assert!(!theirs.fail(&held));
}
