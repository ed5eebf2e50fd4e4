use std::time::Duration;

use leaseline::config::Log;
use leaseline::message::{Lease, SettleOutcome, SettleRequest, Settlement};
use leaseline::{Engine, ErrorKind};

use crate::suite;
use crate::world::*;

suite! {
    async fn a_settled_message_leaves_only_the_counter(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b"]).await;
        let claimed = claim(&queue, 2).await;
        assert_eq!(ack(&queue, &claimed[0]).await, SettleOutcome::Done);
        assert_eq!(ack(&queue, &claimed[0]).await, SettleOutcome::Stale);
        assert_eq!(fail(&queue, &claimed[1]).await, SettleOutcome::Done);
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
        assert!(queue.drain(Duration::from_secs(5)).await.unwrap());
        assert_eq!(world.keys().await, [""; 0]);
    }

    async fn logs_keep_bare_payloads_newest_first(world: World) {
        for leases in [true, false] {
            let queue = world.queue(|config| {
                config.completed = Log::Capped(2);
                config.failed = Log::Unbounded;
                if !leases {
                    without_leases(config);
                }
            }).await;
            publish(&queue, &["1", "2", "é\n3", "4"]).await;
            let claimed = claim(&queue, 4).await;
            let requests = claimed.iter().zip([Settlement::Ack, Settlement::Ack, Settlement::Ack, Settlement::Fail]);
            let requests = requests
                .map(|(delivery, settlement)| SettleRequest { lease: delivery.lease.clone(), settlement, reason: None })
                .collect();
            for outcome in queue.settle(requests).await {
                assert_eq!(outcome, Ok(SettleOutcome::Done));
            }
            assert_eq!(world.list("q::completed").await, ["é\n3", "2"]);
            assert_eq!(world.list("q::failed").await, ["4"]);
            world.redis(&["DEL", "q::completed", "q::failed", "q::processing:lease_token_counter"]).await;
            assert_eq!(world.keys().await, [""; 0]);
        }
    }

    async fn a_token_of_one_message_settles_no_other(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b"]).await;
        let claimed = claim(&queue, 2).await;
        let mixed = Lease { token: claimed[1].lease.token.clone(), ..claimed[0].lease.clone() };
        assert_eq!(settle(&queue, &mixed, Settlement::Ack).await.unwrap(), SettleOutcome::Stale);
        assert_eq!(queue.stats().await.unwrap().processing, 2);
    }

    async fn a_leased_message_cannot_be_settled_without_its_token(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        for log in [Log::Off, Log::Unbounded] {
            let other = world.queue(|config| {
                without_leases(config);
                config.completed = log;
            }).await;
            let stripped = Lease { token: None, ..delivery.lease.clone() };
            let before = world.keys().await;
            assert_eq!(settle(&other, &stripped, Settlement::Ack).await.unwrap(), SettleOutcome::Stale);
            assert_eq!(world.keys().await, before);
        }
        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done);
    }

    async fn a_settlement_that_is_refused_changes_nothing(world: World) {
        let queue = world.queue(|config| config.completed = Log::Capped(5)).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        world.redis(&["SET", "q::completed", "foreign"]).await;
        let error = settle(&queue, &delivery.lease, Settlement::Ack).await.unwrap_err();
        assert_eq!((error.kind, error.code.as_deref()), (ErrorKind::Server, Some("WRONGTYPE")));
        assert_eq!(error.message_id, delivery.message_id);
        world.redis(&["DEL", "q::completed"]).await;
        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done);
        assert_eq!(world.list("q::completed").await, ["a"]);
    }

    async fn leases_that_are_not_ours_are_refused(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        for token in ["", "x", "1 ", "-1", "1:claim_result", "184467440737095516150"] {
            let lease = Lease { token: Some(token.into()), ..delivery.lease.clone() };
            let error = settle(&queue, &lease, Settlement::Ack).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::InvalidArgument, "{token:?}");
            let error = queue.renew(vec![lease]).await.pop().unwrap().unwrap_err();
            assert_eq!(error.kind, ErrorKind::InvalidArgument, "{token:?}");
        }
        let unknown = Lease { stored: b"never published".to_vec(), ..delivery.lease.clone() };
        assert_eq!(settle(&queue, &unknown, Settlement::Ack).await.unwrap(), SettleOutcome::Stale);
        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done);
    }

    async fn an_expired_lease_that_nobody_took_can_still_be_settled(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        world.expire_leases().await;
        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Done);
        assert!(claim(&queue, 1).await.is_empty());
    }

    async fn a_message_removed_by_hand_leaves_nothing_after_its_lease(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        world.redis(&["DEL", "q::processing"]).await;
        assert_eq!(ack(&queue, &delivery).await, SettleOutcome::Stale);
        world.expire_leases().await;
        assert!(claim(&queue, 1).await.is_empty(), "no phantom comes back");
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
    }
}
