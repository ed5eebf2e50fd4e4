//! Many at once: producers, consumers, a renewal and a reclaim.

use std::sync::Arc;
use std::time::Duration;

use leaseline::event::Operation;
use leaseline::message::{PublishOutcome, RenewOutcome, SettleOutcome};
use leaseline::{Engine, ErrorKind};
use tokio::task::JoinSet;

use crate::suite;
use crate::world::*;

suite! {
    async fn of_duplicates_at_once_one_is_enqueued(world: World) {
        let queue = world.queue(|_| ()).await;
        let mut publishes = JoinSet::new();
        for n in 0..20 {
            let queue = queue.clone();
            publishes.spawn(async move { queue.publish_all(vec![keyed(&n.to_string(), "k")]).await.remove(0).outcome.unwrap() });
        }
        let outcomes = publishes.join_all().await;
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == PublishOutcome::Published).count(), 1);
        assert_eq!(world.list("q::pending").await.len(), 1);
    }

    async fn producers_at_once_do_not_pass_the_limit(world: World) {
        let queue = world.queue(|config| config.max_pending_length = Some(5)).await;
        let mut publishes = JoinSet::new();
        for n in 0..20 {
            let queue = queue.clone();
            publishes.spawn(async move { queue.publish_all(vec![outgoing(&n.to_string())]).await.remove(0).outcome });
        }
        let refused = publishes.join_all().await.into_iter().filter_map(Result::err);
        assert!(refused.map(|error| error.kind).eq([ErrorKind::Backpressure; 15]));
        assert_eq!(world.list("q::pending").await.len(), 5);
    }

    async fn of_ten_claims_of_one_expired_message_one_gets_it(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        claim_one(&queue).await;
        world.expire_leases().await;
        queue.take_events().await;
        let mut claims = JoinSet::new();
        for _ in 0..10 {
            let queue = queue.clone();
            claims.spawn(async move { queue.claim(1, Duration::ZERO).await.unwrap() });
        }
        let claimed: Vec<_> = claims.join_all().await.into_iter().flatten().collect();
        assert_eq!((payloads(&claimed), token(&claimed[0])), (vec!["a"], 2));
        let events = queue.take_events().await.events;
        let reclaims = events.iter().filter(|event| event.operation == Operation::ClaimReclaim);
        assert_eq!(reclaims.count(), 1);
        assert_eq!(ack(&queue, &claimed[0]).await, SettleOutcome::Done);
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
    }

    async fn of_a_renewal_and_a_reclaim_at_once_one_wins(world: World) {
        let queue = world.queue(|_| ()).await;
        for round in 0..20 {
            publish(&queue, &["a"]).await;
            let held = claim_one(&queue).await;
            world.expire_leases().await;
            let lease = held.lease.clone();
            let (renewed, claimed) = tokio::join!(queue.renew(vec![lease]), queue.claim(1, Duration::ZERO));
            let claimed = claimed.unwrap();
            let (winner, loser) = match &renewed[0] {
                Ok(RenewOutcome::Renewed(_)) => (&held, claimed.first()),
                Ok(RenewOutcome::Stale) => (&claimed[0], Some(&held)),
                Err(error) => panic!("{error}"),
            };
            assert_eq!(winner.lease.token == held.lease.token, claimed.is_empty(), "round {round}");
            assert_eq!(world.list("q::processing").await.len(), 1, "round {round}");
            if let Some(loser) = loser {
                assert_eq!(ack(&queue, loser).await, SettleOutcome::Stale, "round {round}");
            }
            assert_eq!(ack(&queue, winner).await, SettleOutcome::Done, "round {round}");
            assert_eq!(world.keys().await, ["q::processing:lease_token_counter"], "round {round}");
        }
    }

    async fn consumers_share_a_backlog_of_expired_leases(world: World) {
        for consumers in [1, 3, 5] {
            let queue = world.queue(|_| ()).await;
            let texts: Vec<String> = (0..230).map(|n| n.to_string()).collect();
            publish(&queue, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
            while !claim(&queue, 100).await.is_empty() {}
            world.expire_leases().await;
            let acked = Arc::new(std::sync::Mutex::new(Vec::new()));
            let mut running = JoinSet::new();
            for _ in 0..consumers {
                let (consumer, acked) = (queue.consumer().concurrency(4).until_empty(true), Arc::clone(&acked));
                running.spawn(consumer.run(move |delivery| {
                    let acked = Arc::clone(&acked);
                    async move {
                        acked.lock().unwrap().push(String::from_utf8(delivery.payload().to_vec()).unwrap());
                        Ok::<(), String>(())
                    }
                }));
            }
            let progress: Vec<_> = running.join_all().await.into_iter().map(Result::unwrap).collect();
            assert_eq!(progress.iter().map(|progress| progress.acked).sum::<u64>(), 230);
            assert_eq!(progress.iter().map(|progress| progress.stale + progress.failed).sum::<u64>(), 0);
            let mut acked = acked.lock().unwrap().clone();
            acked.sort_unstable_by_key(|text| text.parse::<u32>().unwrap());
            assert_eq!(acked, texts);
            assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
        }
    }
}
