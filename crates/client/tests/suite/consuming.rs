use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseline::capability::Redis;
use leaseline::config::Log;
use leaseline::message::SettleOutcome;
use leaseline::{Engine, ErrorKind, Handled, Lost};
use tokio::sync::Notify;

use crate::suite;
use crate::world::*;

suite! {
    async fn every_message_is_handled_once_when_nothing_fails(world: World) {
        let queue = world.queue(|_| ()).await;
        let texts: Vec<String> = (0..500).map(|n| n.to_string()).collect();
        publish(&queue, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let progress = queue.consumer().concurrency(8).until_empty(true).run({
            let seen = Arc::clone(&seen);
            move |delivery| {
                let seen = Arc::clone(&seen);
                async move {
                    seen.lock().unwrap().push(String::from_utf8(delivery.payload().to_vec()).unwrap());
                    Ok::<(), String>(())
                }
            }
        }).await.unwrap();
        assert_eq!((progress.acked, progress.failed, progress.in_flight), (500, 0, 0));
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen.len(), 500);
        assert_eq!(seen.iter().collect::<BTreeSet<_>>(), texts.iter().collect());
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
    }

    async fn more_workers_than_messages_and_one_with_nothing_in_it(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "", "b"]).await;
        let lengths = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&lengths);
        let progress = queue.consumer().concurrency(20).until_empty(true).run(move |delivery| {
            seen.lock().unwrap().push(delivery.payload().len());
            async { Ok::<(), String>(()) }
        }).await.unwrap();
        assert_eq!((progress.acked, progress.stale), (3, 0));
        let mut lengths = lengths.lock().unwrap().clone();
        lengths.sort_unstable();
        assert_eq!(lengths, [0, 1, 1]);
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
    }

    async fn dropping_the_run_leaves_its_messages_to_their_leases(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let started = Arc::new(Notify::new());
        let begun = Arc::clone(&started);
        let run = queue.consumer().run(move |_| {
            begun.notify_one();
            async {
                std::future::pending::<()>().await;
                Ok::<(), String>(())
            }
        });
        tokio::select! {
            _ = run => panic!("the handler never ends"),
            () = started.notified() => {}
        }
        assert_eq!(queue.stats().await.unwrap().processing, 1);
        world.expire_leases().await;
        assert_eq!(claim_one(&queue).await.delivery_count, 2);
    }

    async fn a_settlement_whose_caller_left_is_made(world: World) {
        let queue = world.queue(|config| config.completed = Log::Unbounded).await;
        publish(&queue, &["a"]).await;
        let delivery = claim_one(&queue).await;
        tokio::select! {
            biased;
            outcome = ack(&queue, &delivery) => panic!("{outcome:?} at once"),
            () = std::future::ready(()) => {}
        }
        while world.list("q::completed").await.is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(queue.stats().await.unwrap().processing, 0);
    }

    async fn a_failed_handler_ends_its_message(world: World) {
        let queue = world.queue(|config| config.failed = Log::Unbounded).await;
        publish(&queue, &["good", "bad"]).await;
        let progress = queue.consumer().until_empty(true).run(|delivery| async move {
            if delivery.payload() == b"bad" { Err("no good") } else { Ok(()) }
        }).await.unwrap();
        assert_eq!((progress.acked, progress.failed), (1, 1));
        assert_eq!(world.list("q::failed").await, ["bad"]);
    }

    async fn a_handler_sees_its_message_again_when_it_asks_for_that(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b"]).await;
        let progress = queue.consumer().until_empty(true).run(|delivery| async move {
            match delivery.delivery_count() {
                1 if delivery.payload() == b"a" => Handled::RetryAfter(Duration::ZERO),
                _ => Handled::Ack,
            }
        }).await.unwrap();
        assert_eq!((progress.released, progress.acked, progress.in_flight), (1, 2, 0));
        assert_eq!(world.keys().await, ["q::processing:lease_token_counter"]);
    }

    async fn retries_end_at_the_delivery_limit(world: World) {
        let queue = world.queue(|config| config.max_delivery_count = Some(3)).await;
        publish(&queue, &["poison"]).await;
        let progress = queue.consumer().until_empty(true).run(|_| async {
            Handled::RetryAfter(Duration::ZERO)
        }).await.unwrap();
        assert_eq!(progress.released, 3);
        assert_eq!(world.list("q::dlq").await, ["poison"]);
    }

    async fn a_message_for_later_does_not_keep_a_consumer(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let later = || queue.consumer().until_empty(true);
        let progress = later().run(|_| async { Handled::RetryAfter(Duration::from_secs(3_600)) }).await.unwrap();
        assert_eq!(progress.released, 1);
        assert_eq!(queue.stats().await.unwrap().delayed, 1);
        let progress = later().run(|_| async { Handled::Ack }).await.unwrap();
        assert_eq!(progress.acked, 0);
    }

    async fn without_leases_a_message_for_later_stays_unsettled(world: World) {
        let queue = world.queue(without_leases).await;
        publish(&queue, &["a"]).await;
        let progress = queue.consumer().until_empty(true).run(|_| async {
            Handled::RetryAfter(Duration::ZERO)
        }).await.unwrap();
        assert_eq!((progress.released, progress.unsettled), (0, 1));
        assert_eq!(queue.stats().await.unwrap().processing, 1);
    }

    async fn a_panic_leaves_the_message_to_its_lease(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let progress = queue.consumer().until_empty(true).run(|delivery| async move {
            assert!(delivery.payload().is_empty(), "panics on purpose");
            Ok::<(), String>(())
        }).await.unwrap();
        assert_eq!((progress.acked, progress.failed, progress.unsettled), (0, 0, 1));
        world.expire_leases().await;
        assert_eq!(claim_one(&queue).await.delivery_count, 2);
    }

    async fn a_handler_can_leave_a_message_to_its_lease(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let progress = queue.consumer().until_empty(true).run(|_| async { Handled::Leave }).await.unwrap();
        assert_eq!((progress.acked, progress.failed, progress.unsettled), (0, 0, 1));
        world.expire_leases().await;
        assert_eq!(claim_one(&queue).await.delivery_count, 2);
    }

    async fn concurrency_and_limit_are_kept(world: World) {
        let queue = world.queue(|_| ()).await;
        let texts: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        publish(&queue, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let progress = queue.consumer().concurrency(3).limit(Some(10)).run({
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            move |_| {
                let (running, most) = (Arc::clone(&running), Arc::clone(&most));
                async move {
                    most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    running.fetch_sub(1, Ordering::SeqCst);
                    Ok::<(), String>(())
                }
            }
        }).await.unwrap();
        assert_eq!(progress.acked, 10);
        assert!(most.load(Ordering::SeqCst) <= 3);
        let stats = queue.stats().await.unwrap();
        assert_eq!((stats.pending, stats.processing), (10, 0), "no message was taken beyond the limit");
    }

    async fn stopping_lets_the_running_handlers_finish(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b"]).await;
        let (started, stop) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let running = tokio::spawn({
            let (queue, started, stop) = (queue.clone(), Arc::clone(&started), Arc::clone(&stop));
            async move {
                queue.consumer().stop_when(async move { stop.notified().await }).run(move |_| {
                    let started = Arc::clone(&started);
                    async move {
                        started.notify_one();
                        tokio::time::sleep(Duration::from_millis(100)).await;
                        Ok::<(), String>(())
                    }
                }).await
            }
        });
        started.notified().await;
        stop.notify_one();
        let progress = running.await.unwrap().unwrap();
        assert_eq!(progress.acked, 1);
        let stats = queue.stats().await.unwrap();
        assert_eq!((stats.pending, stats.processing), (1, 0));
    }

    async fn a_heartbeat_keeps_a_slow_handler_its_lease(world: World) {
        let queue = world.queue(|config| config.visibility_timeout_ms = Some(600)).await;
        publish(&queue, &["slow"]).await;
        let rival = queue.clone();
        let progress = queue.consumer().heartbeat(Some(Duration::from_millis(100))).until_empty(true).run(move |_| {
            let rival = rival.clone();
            async move {
                // Three times the timeout; the rival must never get the message.
                for _ in 0..9 {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    if !claim(&rival, 1).await.is_empty() {
                        return Err("taken while its holder lives");
                    }
                }
                Ok(())
            }
        }).await.unwrap();
        assert_eq!((progress.acked, progress.failed, progress.stale), (1, 0, 0));
    }

    /// Other tests of the process may use the worker too, so the bound is wide.
    async fn many_heartbeats_share_calls(world: World) {
        let queue = world.queue(|config| config.visibility_timeout_ms = Some(5_000)).await;
        let texts: Vec<String> = (0..100).map(|n| n.to_string()).collect();
        publish(&queue, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let before = leaseline_renewal::Worker::global().metrics();
        let progress = queue.consumer().concurrency(100).heartbeat(Some(Duration::from_millis(500))).until_empty(true).run(|_| async {
            tokio::time::sleep(Duration::from_millis(1_800)).await;
            Handled::Ack
        }).await.unwrap();
        assert_eq!((progress.acked, progress.stale), (100, 0));
        let after = leaseline_renewal::Worker::global().metrics();
        let renewed = after.counts.extended - before.counts.extended;
        assert!(renewed >= 200, "{renewed}");
        assert!((after.requests - before.requests) * 4 < renewed, "{before:?} {after:?}");
    }

    /// Two leases are all that one of these consumers has.
    async fn the_heartbeats_of_many_consumers_share_calls(world: World) {
        let queue = world.queue(|config| config.visibility_timeout_ms = Some(5_000)).await;
        let texts: Vec<String> = (0..60).map(|n| n.to_string()).collect();
        publish(&queue, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let before = leaseline_renewal::Worker::global().metrics();
        let consumers: Vec<_> = (0..30).map(|_| {
            let consumer = queue.clone().consumer().concurrency(2).heartbeat(Some(Duration::from_millis(500)));
            tokio::spawn(consumer.until_empty(true).run(|_| async {
                tokio::time::sleep(Duration::from_millis(1_800)).await;
                Handled::Ack
            }))
        }).collect();
        let mut acked = 0;
        for consumer in consumers {
            acked += consumer.await.unwrap().unwrap().acked;
        }
        assert_eq!(acked, 60);
        let after = leaseline_renewal::Worker::global().metrics();
        let renewed = after.counts.extended - before.counts.extended;
        assert!(renewed >= 120, "{renewed}");
        assert!((after.requests - before.requests) * 4 < renewed, "{before:?} {after:?}");
    }

    async fn heartbeats_hold_a_lease_no_longer_than_its_longest_time(world: World) {
        let queue = world.queue(|config| config.visibility_timeout_ms = Some(600)).await;
        publish(&queue, &["slow"]).await;
        let rival = queue.clone();
        let longest = Duration::from_millis(1_500);
        let consumer = queue.consumer().heartbeat(Some(Duration::from_millis(100))).max_lease_time(Some(longest));
        let (claimed_ms, told) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(None)));
        let progress = consumer.until_empty(true).limit(Some(1)).run({
            let (claimed_ms, told) = (Arc::clone(&claimed_ms), Arc::clone(&told));
            move |delivery| {
                let (rival, told) = (rival.clone(), Arc::clone(&told));
                claimed_ms.store(delivery.lease().deadline_ms.unwrap() - 600, Ordering::SeqCst);
                async move {
                    assert_eq!(delivery.lease_lost().await, Lost::MaxLeaseTime);
                    // It is over at once, not a visibility timeout later.
                    let taken = rival.claim(1, Duration::from_secs(60)).await.unwrap();
                    *told.lock().unwrap() = Some((token(&taken[0]), taken[0].lease.deadline_ms.unwrap() - 600));
                    Ok::<(), String>(())
                }
            }
        }).await.unwrap();
        assert_eq!((progress.acked, progress.stale), (0, 1), "the lease had passed on");
        let (token, taken_ms) = told.lock().unwrap().expect("the handler was told");
        let held = taken_ms - claimed_ms.load(Ordering::SeqCst);
        assert_eq!(token, 2);
        assert!(held >= 1_500, "renewed for {held} ms only: the lease of 600 ms was not kept");
    }

    async fn no_renewal_reaches_beyond_the_longest_time(world: World) {
        let queue = world.queue(|config| config.visibility_timeout_ms = Some(60_000)).await;
        publish(&queue, &["slow"]).await;
        let consumer = queue.consumer().heartbeat(Some(Duration::from_millis(20)));
        let spy = Arc::new(world.connection.clone());
        let progress = consumer.max_lease_time(Some(Duration::from_millis(60_100))).until_empty(true).run(move |delivery| {
            let spy = Arc::clone(&spy);
            async move {
                let claimed_until = delivery.lease().deadline_ms.unwrap();
                // Ten and more heartbeats, of which each would reach further.
                for _ in 0..20 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    let argv: [&[u8]; 3] = [b"ZSCORE", b"q::processing:lease_deadlines", &delivery.lease().stored];
                    let until: f64 = text(spy.execute(&argv, 5_000).await.unwrap().remove(0)).parse().unwrap();
                    if until > (claimed_until + 100) as f64 {
                        return Err("renewed beyond the limit");
                    }
                    if until == (claimed_until + 100) as f64 {
                        return Ok(());
                    }
                }
                Err("never renewed up to the limit")
            }
        }).await.unwrap();
        assert_eq!((progress.acked, progress.failed), (1, 0));
    }

    async fn a_handler_is_told_that_its_lease_has_passed_on(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a"]).await;
        let (rival, spy) = (queue.clone(), Arc::new(world));
        let progress = queue.consumer().heartbeat(Some(Duration::from_millis(20))).limit(Some(1)).run(move |delivery| {
            let (rival, spy) = (rival.clone(), Arc::clone(&spy));
            async move {
                loop {
                    // A heartbeat may come in between and renew it.
                    spy.expire_leases().await;
                    if !claim(&rival, 1).await.is_empty() {
                        break;
                    }
                }
                assert_eq!(delivery.lease_lost().await, Lost::NotRenewed);
                Ok::<(), String>(())
            }
        }).await.unwrap();
        assert_eq!((progress.acked, progress.stale), (0, 1));
    }

    async fn settings_that_cannot_work_are_refused(world: World) {
        let queue = world.queue(|config| config.visibility_timeout_ms = Some(1_000)).await;
        let handler = |_| async { Ok::<(), String>(()) };
        for (consumer, text) in [
            (queue.consumer().concurrency(0), "concurrency"),
            (queue.consumer().heartbeat(Some(Duration::from_millis(500))), "half"),
            (queue.consumer().heartbeat(Some(Duration::ZERO)), "half"),
            (queue.consumer().max_lease_time(Some(Duration::from_secs(9))), "set a heartbeat"),
            (
                queue.consumer().heartbeat(Some(Duration::from_millis(100))).max_lease_time(Some(Duration::from_millis(999))),
                "below the visibility timeout",
            ),
            (world.queue(without_leases).await.consumer().heartbeat(Some(Duration::from_secs(1))), "leases"),
        ] {
            let error = consumer.until_empty(true).run(handler).await.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Configuration);
            assert!(error.message.contains(text), "{error}");
        }
    }

    async fn what_a_claim_took_whose_caller_left_at_the_last_moment_is_kept(world: World) {
        // The answer has arrived and is not yet looked at when the caller goes away.
        let queue = world.queue(without_leases).await;
        for round in 0..20 {
            publish(&queue, &["a"]).await;
            let mut call = Box::pin(queue.claim(1, Duration::ZERO));
            let polled = std::future::poll_fn(|context| std::task::Poll::Ready(call.as_mut().poll(context))).await;
            assert!(polled.is_pending());
            while !queue.stats().await.unwrap().processing.eq(&1) {}
            tokio::time::sleep(Duration::from_millis(round % 4)).await;
            drop(call);
            let mut claimed = Vec::new();
            for _ in 0..100 {
                claimed = queue.claim(1, Duration::from_millis(50)).await.unwrap();
                if !claimed.is_empty() {
                    break;
                }
            }
            assert_eq!(payloads(&claimed), ["a"], "round {round}");
            assert_eq!(ack(&queue, &claimed[0]).await, SettleOutcome::Done);
        }
    }

    async fn what_a_dropped_claim_took_goes_to_the_next_one(world: World) {
        let queue = world.queue(|_| ()).await;
        publish(&queue, &["a", "b", "c"]).await;
        let mut taken = Vec::new();
        // Dropped at its first suspension point: the call itself goes on.
        tokio::select! {
            biased;
            claimed = queue.claim(1, Duration::ZERO) => taken.extend(claimed.unwrap()),
            () = std::future::ready(()) => {}
        }
        while taken.len() < 3 {
            let claimed = queue.claim(3, Duration::from_secs(5)).await.unwrap();
            assert!(!claimed.is_empty(), "a claimed message was forgotten");
            taken.extend(claimed);
        }
        let mut texts = payloads(&taken);
        texts.sort_unstable();
        assert_eq!(texts, ["a", "b", "c"]);
    }
}
