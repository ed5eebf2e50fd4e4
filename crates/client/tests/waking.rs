//! Sleeping consumers and a network or a server that gets in their way.

use std::time::{Duration, Instant};

use leaseline::capability::{Redis, Value};
use leaseline::message::Delivery;
use leaseline::{Connection, Engine, Queue};
use leaseline_redis::testing::{Cut, Fault, FaultProxy, RedisServer, Rule};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Longer than any test.
const FOR_EVER: Duration = Duration::from_secs(3_600);

/// How long a test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server, a proxy in front of it, and connections through and around the proxy.
struct Line {
    proxy: FaultProxy,
    direct: Connection,
    server: RedisServer,
}

impl Line {
    async fn new() -> Self {
        let server = RedisServer::start();
        Self {
            proxy: FaultProxy::start(server.port()).await,
            direct: Connection::open(&server.url()).await.unwrap(),
            server,
        }
    }

    async fn queue(&self, url: &str) -> Queue {
        let builder = Queue::builder("q").redis(url).engine(Engine::Native);
        builder.open().await.unwrap()
    }

    /// A raw command around the proxy.
    async fn redis(&self, command: &str) -> Vec<Value> {
        let argv: Vec<&[u8]> = command.split(' ').map(str::as_bytes).collect();
        self.direct.execute(&argv, 5_000).await.unwrap()
    }

    async fn push(&self, payload: &str) {
        self.redis(&format!("LPUSH q::pending {payload}")).await;
    }

    /// Ends a connection of the server's.
    async fn kill(&self, id: &str) {
        let mut socket = TcpStream::connect(("127.0.0.1", self.server.port()))
            .await
            .unwrap();
        let command = format!("CLIENT KILL ID {id}\r\n");
        socket.write_all(command.as_bytes()).await.unwrap();
        let mut reply = [0; 4];
        socket.read_exact(&mut reply).await.unwrap();
        assert_eq!(&reply, b":1\r\n");
    }

    /// Waits until this many connections wait for messages, and no other one is a waiter's.
    async fn until_waiting(&self, expected: usize) -> Vec<String> {
        let limit = Instant::now() + PATIENCE;
        loop {
            let waiters = waiters(&self.direct).await;
            let blocked = waiters.iter().filter(|line| line.contains(" cmd=blmove "));
            if blocked.count() == expected && waiters.len() == expected {
                return waiters;
            }
            assert!(Instant::now() < limit, "never {expected}: {waiters:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn until_asked(&self, command: &str, times: u64) {
        let limit = Instant::now() + PATIENCE;
        while self.proxy.requests(command) < times {
            assert!(Instant::now() < limit, "never {times} times {command}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// The connections on which somebody waits, as `CLIENT LIST` shows them.
async fn waiters(connection: &Connection) -> Vec<String> {
    let reply = connection.execute(&[b"CLIENT", b"LIST"], 5_000).await;
    let [Value::Bytes(list)] = &reply.unwrap()[..] else {
        panic!("no list of clients");
    };
    let list = String::from_utf8_lossy(list).into_owned();
    let waiters = list
        .lines()
        .filter(|line| line.contains(" name=leaseline-waiter "));
    waiters.map(str::to_owned).collect()
}

/// A claim that waits.
fn sleeper(queue: &Queue) -> JoinHandle<Vec<Delivery>> {
    let queue = queue.clone();
    tokio::spawn(async move { queue.claim(1, FOR_EVER).await.unwrap() })
}

async fn payload(sleeper: JoinHandle<Vec<Delivery>>) -> String {
    let delivery = sleeper.await.unwrap().remove(0);
    String::from_utf8(delivery.payload.unwrap()).unwrap()
}

#[tokio::test]
async fn a_process_waits_on_one_connection_which_ends_with_its_sleepers() {
    let line = Line::new().await;
    // Queue objects that know nothing of each other but the address.
    let queues = [
        line.queue(&line.server.url()).await,
        line.queue(&line.server.url()).await,
    ];
    let mut sleepers: Vec<_> = (0..20).map(|n| sleeper(&queues[n % 2])).collect();
    let consumer = tokio::spawn(queues[0].consumer().run(|_| async { Ok::<(), String>(()) }));
    line.until_waiting(1).await;
    for sleeper in sleepers.drain(..10) {
        sleeper.abort();
    }
    consumer.abort();
    assert_eq!(queues[0].drain(PATIENCE).await, Ok(true));
    assert_eq!(queues[1].drain(PATIENCE).await, Ok(true));
    for sleeper in sleepers {
        assert!(sleeper.await.unwrap().is_empty());
    }
    line.until_waiting(0).await;
}

#[tokio::test]
async fn a_lost_wake_up_is_made_up_for() {
    for fault in [
        Fault::LoseReply(Cut::Reset),
        Fault::LoseReply(Cut::Finish),
        Fault::CutBefore(Cut::Reset),
        // Half open: nothing ever comes.
        Fault::StallReply,
    ] {
        let line = Line::new().await;
        line.proxy.inject(Rule::next(fault).of(["BLMOVE"]));
        let sleeper = sleeper(&line.queue(&line.proxy.url()).await);
        line.until_asked("BLMOVE", 1).await;
        line.push("raw").await;
        assert_eq!(payload(sleeper).await, "raw", "{fault:?}");
        assert_eq!(line.proxy.fired(), 1);
    }
}

#[tokio::test]
async fn a_killed_waiter_comes_back() {
    let line = Line::new().await;
    let sleeper = sleeper(&line.queue(&line.server.url()).await);
    let mut killed = Vec::new();
    for _ in 0..3 {
        let waiter = line.until_waiting(1).await.remove(0);
        let id = waiter
            .split_once("id=")
            .unwrap()
            .1
            .split(' ')
            .next()
            .unwrap();
        line.kill(id).await;
        assert!(!killed.contains(&waiter));
        killed.push(waiter);
    }
    line.until_waiting(1).await;
    line.push("raw").await;
    assert_eq!(payload(sleeper).await, "raw");
}

#[tokio::test]
async fn a_server_that_forbids_the_wait_is_polled() {
    let line = Line::new().await;
    line.redis("ACL SETUSER poor on >secret ~* +@all -blmove")
        .await;
    let url = line.proxy.url().replace("redis://", "redis://poor:secret@");
    let sleeper = sleeper(&line.queue(&url).await);
    line.until_asked("BLMOVE", 2).await;
    let (waits, claims) = (
        line.proxy.requests("BLMOVE"),
        line.proxy.requests("EVALSHA"),
    );
    line.push("raw").await;
    assert_eq!(payload(sleeper).await, "raw");
    // It was a poll, and polls are the rule by now.
    assert!(line.proxy.requests("BLMOVE") <= waits + 1);
    assert!(line.proxy.requests("EVALSHA") > claims);
}

#[tokio::test]
async fn a_permission_that_comes_later_is_noticed() {
    let line = Line::new().await;
    line.redis("ACL SETUSER poor on >secret ~* +@all -blmove")
        .await;
    let url = line
        .server
        .url()
        .replace("redis://", "redis://poor:secret@");
    let sleeper = sleeper(&line.queue(&url).await);
    let limit = Instant::now() + PATIENCE;
    while line.redis("ACL LOG").await.is_empty() {
        assert!(Instant::now() < limit, "never refused");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    line.redis("ACL SETUSER poor +blmove").await;
    line.until_waiting(1).await;
    line.push("raw").await;
    assert_eq!(payload(sleeper).await, "raw");
}

#[tokio::test]
async fn a_key_of_another_type_is_an_error_and_no_wait() {
    let line = Line::new().await;
    let queue = line.queue(&line.server.url()).await;
    let sleeper = tokio::spawn({
        let queue = queue.clone();
        async move { queue.claim(1, FOR_EVER).await }
    });
    line.until_waiting(1).await;
    line.redis("SET q::pending foreign").await;
    let error = sleeper.await.unwrap().unwrap_err();
    assert_eq!(error.code.as_deref(), Some("WRONGTYPE"), "{error}");
}

#[tokio::test]
async fn a_restarted_server_wakes_again() {
    let mut line = Line::new().await;
    let queue = line.queue(&line.server.url()).await;
    let sleepers = [sleeper(&queue), sleeper(&queue)];
    line.until_waiting(1).await;
    line.server.kill9();
    tokio::time::sleep(Duration::from_millis(700)).await;
    line.server.restart();
    line.until_waiting(1).await;
    line.redis("LPUSH q::pending a b").await;
    let mut payloads = Vec::new();
    for sleeper in sleepers {
        payloads.push(payload(sleeper).await);
    }
    payloads.sort();
    assert_eq!(payloads, ["a", "b"]);
}

#[test]
fn sleepers_of_a_runtime_that_stands_still_keep_nobody_from_waking() {
    let runtime = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    };
    let (still, driven) = (runtime(), runtime());
    let line = driven.block_on(Line::new());
    let url = line.server.url();
    // Sleeps, and then is not driven any more.
    still.block_on(async {
        sleeper(&line.queue(&url).await);
        // The line's own connection belongs to the other runtime.
        let direct = Connection::open(&url).await.unwrap();
        let waits = |line: &String| line.contains(" cmd=blmove ");
        while !waiters(&direct).await.iter().any(waits) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    driven.block_on(async {
        let sleeper = sleeper(&line.queue(&url).await);
        line.until_waiting(2).await;
        line.push("raw").await;
        assert_eq!(payload(sleeper).await, "raw");
    });
}
