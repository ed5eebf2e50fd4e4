//! Consumers and their heartbeats, the real ones, in virtual time: on a model of Redis behind a
//! network with faults. A seed stands for a whole history.

mod chance;
mod network;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leaseline::embedded::Embedded;
use leaseline::message::Outgoing;
use leaseline::{Connection, Delivery, Engine, Handled, Queue};
use tokio::time::Instant;

use chance::Chance;
use network::{Network, Weather};

const TIMEOUT: Duration = Duration::from_secs(30);
const HEARTBEAT: Duration = Duration::from_secs(8);

/// Before a lease ends its heartbeat has at least this long: one interval passed since the last
/// renewal, a request that was lost has to time out, and a pause follows it.
const MARGIN: Duration = Duration::from_secs(10);

const MESSAGES: u64 = 24;
const CONSUMERS: usize = 3;

/// What a handler was given, and what it saw.
#[derive(Default)]
struct Seen {
    /// How often each message was handed out, by payload.
    given: BTreeMap<Vec<u8>, u64>,
    lost: u64,
}

/// Renewals have one worker in a process, whose time is that of the runtime: all histories are played
/// on one, and one after another.
fn on_one_runtime(work: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(work);
}

/// Plays a history: messages that take from a moment to minutes, and consumers until nothing is left.
/// `releases`: some handlers give their message back for later.
async fn play(
    seed: u64,
    releases: bool,
    weather: fn(&mut Chance) -> Weather,
    check: fn(&Seen, &Network),
) {
    let mut chance = Chance::new(seed);
    let weather = weather(&mut chance);
    let model = Embedded::with_still_clock(Duration::from_secs(1_700_000_000));
    let network = Network::new(model.clone(), weather, chance.next());
    // The publisher has a network without faults.
    let publisher = open(Connection::from(model)).await;
    let payload = |number: u64| format!("message {number}").into_bytes();
    for number in 0..MESSAGES {
        let message = Outgoing {
            payload: payload(number).into(),
            ..Outgoing::default()
        };
        let reply = publisher.publish_all(vec![message]).await.remove(0);
        reply.outcome.expect("published");
    }
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut consumers = Vec::new();
    for _ in 0..CONSUMERS {
        let queue = open(Connection::new(network.clone())).await;
        let seen = Arc::clone(&seen);
        let consumer = queue.consumer().concurrency(4).heartbeat(Some(HEARTBEAT));
        let stop = queue.clone();
        let chance = Mutex::new(Chance::new(chance.next()));
        let running = tokio::spawn(consumer.run(move |delivery| {
            let mut chance = chance.lock().unwrap();
            let time = match chance.below(3) {
                0 => Duration::from_millis(chance.below(100)),
                1 => Duration::from_secs(chance.below(30)),
                _ => Duration::from_secs(chance.below(300)),
            };
            let handled = match releases && chance.below(2) == 0 {
                true => Handled::RetryAfter(Duration::from_secs(chance.below(20))),
                false => Handled::Ack,
            };
            handle(Arc::clone(&seen), delivery, time, handled)
        }));
        consumers.push((stop, running));
    }
    let patience = Instant::now() + Duration::from_secs(24 * 3600);
    loop {
        tokio::time::sleep(Duration::from_secs(5)).await;
        network.catch_up();
        let stats = publisher.stats().await.expect("statistics");
        if stats.pending + stats.processing == 0 {
            break;
        }
        assert!(
            Instant::now() < patience,
            "seed {seed}: {stats:?} for a day"
        );
    }
    for (queue, running) in consumers {
        queue.drain(Duration::from_secs(600)).await.ok();
        running.await.expect("a consumer").expect("its end");
    }
    let seen = seen.lock().unwrap();
    assert_eq!(seen.given.len() as u64, MESSAGES, "seed {seed}");
    network.check(seed);
    check(&seen, &network);
}

async fn open(connection: Connection) -> Queue {
    Queue::builder("jobs")
        .connection(connection)
        .engine(Engine::Native)
        .visibility_timeout(TIMEOUT)
        .configure(|config| config.max_delivery_count = None)
        .open()
        .await
        .expect("a queue")
}

async fn handle(
    seen: Arc<Mutex<Seen>>,
    delivery: Arc<Delivery>,
    time: Duration,
    handled: Handled,
) -> Handled {
    *seen
        .lock()
        .unwrap()
        .given
        .entry(delivery.payload().to_vec())
        .or_default() += 1;
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        _ = delivery.lease_lost() => seen.lock().unwrap().lost += 1,
    }
    handled
}

/// No live lease is lost while its server is reachable within its margin: each message is handed
/// out once, however long it takes.
async fn no_lease_is_lost_in_outages_that_are_shorter_than_the_margin() {
    let (mut renewals, mut faults) = (0, 0);
    for seed in 0..40 {
        static TOTALS: Mutex<(u64, u64)> = Mutex::new((0, 0));
        play(
            seed,
            false,
            |chance| Weather::gentle(chance, MARGIN),
            |seen, network| {
                let twice: Vec<_> = seen.given.iter().filter(|(_, times)| **times > 1).collect();
                assert!(twice.is_empty(), "handed out again: {twice:?}");
                assert_eq!(seen.lost, 0, "a lease was lost");
                assert_eq!(
                    network.too_late(),
                    0,
                    "a lease had ended when it was renewed"
                );
                let mut totals = TOTALS.lock().unwrap();
                totals.0 += network.renewals();
                totals.1 += network.faults();
            },
        )
        .await;
        (renewals, faults) = *TOTALS.lock().unwrap();
    }
    assert!(
        renewals > 1_000 && faults > 100,
        "{renewals} renewals, {faults} faults"
    );
}

/// After a waited stop no extension of that token is sent, and none after an answered settlement,
/// whatever the network does.
async fn nothing_is_renewed_after_its_stop_whatever_the_network_does() {
    static TOTALS: Mutex<(u64, u64, u64)> = Mutex::new((0, 0, 0));
    for seed in 0..40 {
        play(seed, true, Weather::wild, |seen, network| {
            let mut totals = TOTALS.lock().unwrap();
            totals.0 += network.renewals();
            totals.1 += network.faults();
            totals.2 += seen.lost;
        })
        .await;
    }
    let (renewals, faults, lost) = *TOTALS.lock().unwrap();
    assert!(
        renewals > 1_000 && faults > 1_000,
        "{renewals} renewals, {faults} faults"
    );
    assert!(lost > 0, "no lease was ever lost, so nothing was tried");
}

/// The checks can fail: outages beyond the margin lose leases.
async fn outages_beyond_the_margin_lose_leases() {
    static LATE: Mutex<u64> = Mutex::new(0);
    for seed in 0..40 {
        play(
            seed,
            false,
            |chance| Weather::gentle(chance, TIMEOUT * 4),
            |_, network| {
                *LATE.lock().unwrap() += network.too_late();
            },
        )
        .await;
    }
    assert!(*LATE.lock().unwrap() > 0);
}

#[test]
fn leases_under_faults() {
    on_one_runtime(async {
        no_lease_is_lost_in_outages_that_are_shorter_than_the_margin().await;
        nothing_is_renewed_after_its_stop_whatever_the_network_does().await;
        outages_beyond_the_margin_lose_leases().await;
    });
}
