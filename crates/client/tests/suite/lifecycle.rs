//! What a lease goes through with its handler: invariants 3 and 38 to 42 of `docs/lease-renewal.md`.

use std::sync::Arc;
use std::time::Duration;

use leaseline::event::{Event, Operation, Outcome};
use leaseline::{Engine, ErrorKind, Handled, Queue};

use crate::suite;
use crate::world::*;

/// How a handler ends.
#[derive(Clone, Copy, Debug)]
enum End {
    Is(fn() -> Handled),
    Panics,
}

/// What was told.
struct Told {
    /// Until the message was settled.
    events: Vec<Event>,
    /// After that, for some heartbeats' time.
    late: Vec<Event>,
}

/// Handles one message of a queue under heartbeats, and waits for any that come too late.
async fn handle_one(queue: &Queue, end: End) -> Told {
    publish(queue, &["a"]).await;
    queue.take_events().await;
    let consumer = queue
        .consumer()
        .heartbeat(Some(Duration::from_millis(20)))
        .limit(Some(1));
    let progress = consumer.run(move |delivery| async move {
        // Some heartbeats, and perhaps one that is on its way now.
        tokio::time::sleep(Duration::from_millis(90)).await;
        assert_eq!(delivery.payload(), b"a");
        match end {
            End::Is(handled) => handled(),
            End::Panics => panic!("on purpose"),
        }
    });
    let progress = progress.await.unwrap();
    assert_eq!((progress.in_flight, progress.stale), (0, 0));
    let events = queue.take_events().await.events;
    assert!(renewals(&events) > 0, "{events:?}");
    tokio::time::sleep(Duration::from_millis(120)).await;
    let late = queue.take_events().await.events;
    Told { events, late }
}

fn renewals(events: &[Event]) -> usize {
    count(events, Operation::LeaseRenew, Outcome::Success)
}

fn count(events: &[Event], operation: Operation, outcome: Outcome) -> usize {
    let is_it = |event: &&Event| (event.operation, event.outcome) == (operation, outcome);
    events.iter().filter(is_it).count()
}

/// When the lease of the message ends.
async fn lease_end(world: &World) -> String {
    let ends = world
        .redis(&[
            "ZRANGE",
            "q::processing:lease_deadlines",
            "0",
            "-1",
            "WITHSCORES",
        ])
        .await;
    text(ends[1].clone())
}

suite! {
    /// A queue without leases has no receipts: nothing is renewed, and nobody can ask for it.
    async fn invariant_03_without_a_lease_nothing_is_renewed(world: World) {
        let queue = world.queue(without_leases).await;
        publish(&queue, &["a"]).await;
        let refused = queue.consumer().heartbeat(Some(Duration::from_millis(20)));
        let error = refused.run(|_| async { Handled::Ack }).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Configuration);
        let progress = queue.consumer().limit(Some(1)).run(|delivery| async move {
            assert_eq!(delivery.token(), None);
            tokio::time::sleep(Duration::from_millis(60)).await;
            Handled::Ack
        }).await.unwrap();
        assert_eq!(progress.acked, 1);
        let events = queue.take_events().await.events;
        let of_renewals = [Operation::LeaseRenew, Operation::LeaseRenewFailed];
        assert!(!events.iter().any(|event| of_renewals.contains(&event.operation)), "{events:?}");
    }

    /// The renewal goes on while the message is acknowledged, and is dropped then.
    async fn invariant_38_a_success_is_acknowledged_once_and_renewed_no_more(world: World) {
        let queue = world.queue(|_| ()).await;
        let Told { events, late } = handle_one(&queue, End::Is(|| Handled::Ack)).await;
        assert_eq!(count(&events, Operation::Ack, Outcome::Success), 1, "{events:?}");
        // One that comes with the acknowledgement and finds no lease.
        assert!(late.len() <= 1 && renewals(&late) == 0, "{late:?}");
        assert_eq!(queue.stats().await.unwrap().processing, 0);
    }

    async fn invariant_39_the_delay_that_a_handler_asked_for_is_the_last_update(world: World) {
        let queue = world.queue(|_| ()).await;
        let delay = Duration::from_secs(7);
        let before = world.now_ms().await;
        let Told { events, late } = handle_one(&queue, End::Is(|| Handled::RetryAfter(Duration::from_secs(7)))).await;
        assert_eq!(count(&events, Operation::Nack, Outcome::Success), 1, "{events:?}");
        assert_eq!(late, []);
        let end: u64 = lease_end(&world).await.parse().unwrap();
        let range = before + 7_000..=world.now_ms().await + u64::try_from(delay.as_millis()).unwrap();
        assert!(range.contains(&end), "{end} is not in {range:?}: a renewal came later");
        assert_eq!(queue.stats().await.unwrap().delayed, 1);
    }

    async fn invariant_40_a_message_that_is_left_is_neither_settled_nor_renewed(world: World) {
        let queue = world.queue(|_| ()).await;
        let Told { events, .. } = handle_one(&queue, End::Is(|| Handled::Leave)).await;
        let end = lease_end(&world).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(lease_end(&world).await, end);
        assert_eq!(queue.take_events().await.events, []);
        for operation in [Operation::Ack, Operation::Failed, Operation::Nack] {
            assert!(!events.iter().any(|event| event.operation == operation), "{events:?}");
        }
    }

    /// A handler that says that it failed is settled as failed, by the queue's own rule; one that
    /// panics leaves its message to the lease.
    async fn invariant_41_an_error_is_not_acknowledged_and_renewed_no_more(world: World) {
        let queue = world.queue(|_| ()).await;
        let Told { events, .. } = handle_one(&queue, End::Panics).await;
        let end = lease_end(&world).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(lease_end(&world).await, end);
        assert!(!events.iter().any(|event| event.operation == Operation::Ack), "{events:?}");
        assert_eq!(queue.stats().await.unwrap().processing, 1);
        world.expire_leases().await;
        ack(&queue, &claim_one(&queue).await).await;
        let Told { events, late } = handle_one(&queue, End::Is(|| Handled::Fail("no good".into()))).await;
        assert_eq!(count(&events, Operation::Ack, Outcome::Success), 0, "{events:?}");
        assert_eq!(count(&events, Operation::Nack, Outcome::Success), 1, "{events:?}");
        assert_eq!(renewals(&late), 0, "{late:?}");
    }

    /// A payload is no stream here: it is whole before its handler runs, and stays so. Whatever the
    /// handler does with it, the connection is free for the next call.
    async fn invariant_42_payloads_are_whole_on_all_paths(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = None).await;
        let large = Arc::new("x".repeat(1 << 20));
        for end in [Handled::Ack, Handled::Fail("no good".into()), Handled::RetryAfter(Duration::ZERO), Handled::Leave] {
            publish(&queue, &[&large]).await;
            let want = Arc::clone(&large);
            let progress = queue.consumer().heartbeat(Some(Duration::from_millis(20))).limit(Some(1)).run(move |delivery| {
                let (want, end) = (Arc::clone(&want), end.clone());
                async move {
                    tokio::time::sleep(Duration::from_millis(45)).await;
                    assert_eq!(delivery.payload(), want.as_bytes());
                    end
                }
            }).await.unwrap();
            assert_eq!(progress.in_flight, 0);
            world.expire_leases().await;
            while let Some(delivery) = claim(&queue, 1).await.pop() {
                assert_eq!(payload(&delivery), *large);
                ack(&queue, &delivery).await;
            }
        }
    }
}
