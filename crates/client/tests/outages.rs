//! A fleet of consumers on a real server through outages: nothing is stuck, no message has two
//! unexpired leases, and the fleet resumes by itself.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use leaseline::capability::{Redis, Value};
use leaseline::{Connection, Delivery, Engine, Progress, Queue};
use leaseline_redis::testing::{Cut, FaultProxy, RedisServer};
use tokio::sync::watch;
use tokio::task::JoinHandle;

const WORKERS: usize = 3;
const LEASE: Duration = Duration::from_millis(1_500);

/// Longer than any wait of these tests should be; only for those that hang.
const HANG: Duration = Duration::from_secs(90);

/// One claim that reached a handler.
struct Work {
    token: u64,
    claimed_ms: u64,
    deadline_ms: u64,
}

/// What the handlers have seen, by message.
type Ledger = Arc<Mutex<BTreeMap<String, Vec<Work>>>>;

struct Fleet {
    server: RedisServer,
    proxy: FaultProxy,
    publisher: Queue,
    ledger: Ledger,
    /// How many handler runs began.
    begun: watch::Receiver<u64>,
    stop: watch::Sender<bool>,
    workers: Vec<JoinHandle<Result<Progress, leaseline::Error>>>,
}

impl Fleet {
    async fn start(server: RedisServer, engine: Engine) -> Self {
        let proxy = FaultProxy::start(server.port()).await;
        let publisher = open(&proxy, engine).await;
        let ledger = Ledger::default();
        let (began, begun) = watch::channel(0);
        let (stop, stopped) = watch::channel(false);
        let began = Arc::new(began);
        let mut workers = Vec::new();
        for _ in 0..WORKERS {
            let consumer = open(&proxy, engine).await.consumer().concurrency(2);
            let mut stopped = stopped.clone();
            let (ledger, began) = (ledger.clone(), began.clone());
            let consumer = consumer.stop_when(async move {
                let _ = stopped.wait_for(|stop| *stop).await;
            });
            workers.push(tokio::spawn(consumer.run(
                move |delivery: Arc<Delivery>| {
                    note(&ledger, &delivery);
                    began.send_modify(|count| *count += 1);
                    async {
                        tokio::time::sleep(Duration::from_millis(10)).await;
                        Ok::<(), String>(())
                    }
                },
            )));
        }
        Self {
            server,
            proxy,
            publisher,
            ledger,
            begun,
            stop,
            workers,
        }
    }

    /// Publishes until each is in the queue. Deduplication keys make the repetition harmless.
    async fn publish(&self, names: &[String]) {
        for name in names {
            let started = Instant::now();
            let message =
                || leaseline::Message::text(name.clone()).deduplication_key(name.as_str());
            while let Err(error) = self.publisher.publish(message()).await {
                assert!(started.elapsed() < HANG, "{name} is not published: {error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// Waits until `more` handler runs have begun from now on. As many messages are published for
    /// them, because all others may have been handled.
    async fn work_goes_on(&mut self, more: u64) {
        let before = *self.begun.borrow();
        let goal = before + more;
        let filling = (0..more).map(|n| format!("more{before}-{n}"));
        self.publish(&filling.collect::<Vec<_>>()).await;
        let goes_on = self.begun.wait_for(|count| *count >= goal);
        assert!(
            tokio::time::timeout(HANG, goes_on).await.is_ok(),
            "the fleet does not work: {:?}",
            self.publisher.stats().await
        );
    }

    /// Waits until nothing is left to do, and checks what was done.
    async fn finish(self, published: &[String]) {
        let started = Instant::now();
        loop {
            let stats = self.publisher.stats().await;
            if matches!(&stats, Ok(stats) if stats.pending + stats.processing == 0) {
                break;
            }
            assert!(started.elapsed() < HANG, "stuck: {stats:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.stop.send_replace(true);
        for worker in self.workers {
            worker.await.unwrap().unwrap();
        }
        assert_eq!(self.publisher.drain(Duration::from_secs(5)).await, Ok(true));
        let ledger = std::mem::take(&mut *self.ledger.lock().unwrap());
        for name in published {
            assert!(ledger.contains_key(name), "{name} was never handled");
        }
        for (name, claims) in ledger.iter() {
            for pair in claims.windows(2) {
                assert!(pair[0].token < pair[1].token, "{name}: tokens go back");
                assert!(
                    pair[0].deadline_ms <= pair[1].claimed_ms,
                    "{name}: claimed under a lease that had not expired"
                );
            }
        }
        let direct = Connection::open(&self.server.url()).await.unwrap();
        let left = direct.execute(&[b"KEYS", b"q::*"], 5_000).await.unwrap();
        for key in left.into_iter().map(text) {
            // What expires by itself: the rest of calls in doubt.
            let expires = ["operation_result:", ":deduplication:", ":claim_result:"];
            assert!(
                expires.iter().any(|part| key.contains(part)),
                "{key} stays behind"
            );
        }
    }

    /// Waits until the fleet works again after the outage that ended now, and tells how long it
    /// took: `cargo nextest run -p leaseline --test outages --no-capture`.
    async fn resumes(&mut self) {
        let healed = Instant::now();
        self.work_goes_on(1).await;
        println!("worked again after {:?}", healed.elapsed());
    }

    /// Has the server close every connection.
    fn kill_connections(&self) {
        let mut socket = TcpStream::connect(("127.0.0.1", self.server.port())).unwrap();
        socket.write_all(b"CLIENT KILL TYPE normal\r\n").unwrap();
        assert_eq!(socket.read(&mut [0; 1]).unwrap(), 1);
    }

    async fn redis(&self, argv: &[&str]) -> Vec<Value> {
        let argv: Vec<&[u8]> = argv.iter().map(|word| word.as_bytes()).collect();
        let direct = Connection::open(&self.server.url()).await.unwrap();
        direct.execute(&argv, 5_000).await.unwrap()
    }
}

async fn open(proxy: &FaultProxy, engine: Engine) -> Queue {
    Queue::builder("q")
        .redis(proxy.url())
        .engine(engine)
        .visibility_timeout(LEASE)
        .max_delivery_count(None)
        .configure(|config| {
            config.command_timeout_ms = 500;
            config.retry_max_delay_ms = 200;
            config.retry_budget_ms = 2_000;
        })
        .open()
        .await
        .unwrap()
}

fn note(ledger: &Ledger, delivery: &Delivery) {
    let name = String::from_utf8(delivery.payload().to_vec()).unwrap();
    let deadline_ms = delivery.lease().deadline_ms.unwrap();
    let work = Work {
        token: delivery.token().unwrap().parse().unwrap(),
        claimed_ms: deadline_ms - LEASE.as_millis() as u64,
        deadline_ms,
    };
    let mut ledger = ledger.lock().unwrap();
    let claims = ledger.entry(name).or_default();
    // Handlers begin in any order.
    claims.push(work);
    claims.sort_by_key(|work| work.claimed_ms);
}

fn text(value: Value) -> String {
    match value {
        Value::Bytes(bytes) => String::from_utf8(bytes).unwrap(),
        other => panic!("{other:?} is not a string"),
    }
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n}")).collect()
}

/// Both engines, one after the other on a server each.
macro_rules! outages {
    ($($(#[$doc:meta])* async fn $name:ident($fleet:ident: Fleet, from $server:expr) $body:block)*) => { $(
        $(#[$doc])*
        mod $name {
            use super::*;

            async fn run(mut $fleet: Fleet) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn native() {
                run(Fleet::start($server, Engine::Native).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn component() {
                run(Fleet::start($server, Engine::Component).await).await;
            }
        }
    )* };
}

outages! {
    async fn scripts_are_flushed(fleet: Fleet, from RedisServer::start()) {
        let published = names("m", 60);
        fleet.publish(&published).await;
        for _ in 0..5 {
            fleet.work_goes_on(5).await;
            fleet.redis(&["SCRIPT", "FLUSH"]).await;
        }
        fleet.finish(&published).await;
    }

    async fn connections_are_killed(fleet: Fleet, from RedisServer::start()) {
        let published = names("m", 60);
        fleet.publish(&published).await;
        for _ in 0..5 {
            fleet.work_goes_on(5).await;
            fleet.kill_connections();
        }
        fleet.finish(&published).await;
    }

    async fn connections_are_reset(fleet: Fleet, from RedisServer::start()) {
        let published = names("m", 60);
        fleet.publish(&published).await;
        for cut in [Cut::Finish, Cut::Reset, Cut::Finish, Cut::Reset] {
            fleet.work_goes_on(5).await;
            fleet.proxy.cut_all(cut);
        }
        fleet.finish(&published).await;
    }

    async fn the_server_dies_and_remembers(fleet: Fleet, from RedisServer::builder().durable().start()) {
        let mut published = names("m", 60);
        fleet.publish(&published).await;
        for round in 0..2 {
            fleet.work_goes_on(5).await;
            fleet.server.kill9();
            tokio::time::sleep(Duration::from_millis(700)).await;
            fleet.server.restart();
            fleet.resumes().await;
            let more = names(&format!("after{round}-"), 10);
            fleet.publish(&more).await;
            published.extend(more);
        }
        fleet.finish(&published).await;
    }

    /// Everything is gone, deduplication keys too; what is published afterwards is handled.
    async fn the_server_dies_and_forgets(fleet: Fleet, from RedisServer::start()) {
        fleet.publish(&names("lost", 60)).await;
        fleet.work_goes_on(5).await;
        fleet.server.kill9();
        tokio::time::sleep(Duration::from_millis(700)).await;
        fleet.server.restart();
        // Tokens start again, so the messages of before are another story.
        fleet.ledger.lock().unwrap().clear();
        let published = names("after", 20);
        fleet.publish(&published).await;
        fleet.finish(&published).await;
    }

    async fn memory_is_full_for_a_while(fleet: Fleet, from RedisServer::start()) {
        let mut published = names("m", 60);
        fleet.publish(&published).await;
        fleet.work_goes_on(5).await;
        fleet.redis(&["CONFIG", "SET", "maxmemory", "1"]).await;
        let refused = fleet.publisher.publish(leaseline::Message::text("refused")).await;
        assert_eq!(refused.unwrap_err().code.as_deref(), Some("OOM"));
        tokio::time::sleep(LEASE).await;
        fleet.redis(&["CONFIG", "SET", "maxmemory", "0"]).await;
        fleet.resumes().await;
        let more = names("after", 10);
        fleet.publish(&more).await;
        published.extend(more);
        fleet.finish(&published).await;
    }

    /// Longer than a command may take and than a lease lasts.
    async fn the_server_hangs(fleet: Fleet, from RedisServer::start()) {
        let mut published = names("m", 60);
        fleet.publish(&published).await;
        fleet.work_goes_on(5).await;
        fleet.server.freeze();
        tokio::time::sleep(LEASE * 2).await;
        fleet.server.thaw();
        fleet.resumes().await;
        let more = names("after", 10);
        fleet.publish(&more).await;
        published.extend(more);
        fleet.finish(&published).await;
    }

    /// The packets of every connection are dropped, and new ones are accepted by nobody who
    /// answers.
    async fn sockets_are_half_open(fleet: Fleet, from RedisServer::start()) {
        let mut published = names("m", 60);
        fleet.publish(&published).await;
        fleet.work_goes_on(5).await;
        let before = fleet.proxy.connections();
        fleet.proxy.fall_silent().await;
        fleet.proxy.stall_all();
        tokio::time::sleep(LEASE * 2).await;
        let attempts = fleet.proxy.connections() - before;
        assert!(attempts <= 40, "{attempts} connections in {:?} by {} queues", LEASE * 2, WORKERS + 1);
        // The silent ones stay as they are.
        fleet.proxy.admit().await;
        fleet.resumes().await;
        let more = names("after", 10);
        fleet.publish(&more).await;
        published.extend(more);
        fleet.finish(&published).await;
    }
}
