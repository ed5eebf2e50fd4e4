//! What consumers with default settings cost while their server is away, and how soon they work
//! again when it is back.
//!
//! `cargo run -p leaseline --example outage`; `-- 5 12 30` for outages of other lengths in seconds.
//! It starts a server and a proxy of its own. Linux only: the processor time is that of /proc.

use std::time::{Duration, Instant};

use leaseline::{Engine, Error, Message, Queue};
use leaseline_redis::testing::{FaultProxy, RedisServer};
use tokio::sync::mpsc;

const CONSUMERS: usize = 20;

/// How the server is away.
#[derive(Clone, Copy, Debug)]
enum Outage {
    /// Killed and started again, with its data.
    Killed,
    /// Stopped, with its connections open.
    Frozen,
    /// The packets of all connections are dropped, and new ones are accepted by nobody who answers.
    HalfOpen,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let mut lengths: Vec<u64> = std::env::args()
        .skip(1)
        .flat_map(|word| word.parse())
        .collect();
    if lengths.is_empty() {
        lengths = vec![5, 20];
    }
    println!(
        "outage, engine, seconds, processor ms a second, connections a second, first handler after ms"
    );
    for outage in [Outage::Killed, Outage::Frozen, Outage::HalfOpen] {
        for engine in [Engine::Native, Engine::Component] {
            for length in &lengths {
                measure(outage, engine, Duration::from_secs(*length)).await?;
            }
        }
    }
    Ok(())
}

async fn measure(outage: Outage, engine: Engine, length: Duration) -> Result<(), Error> {
    let mut server = RedisServer::builder().durable().start();
    let proxy = FaultProxy::start(server.port()).await;
    let open = || {
        let queue = Queue::builder("outage").redis(proxy.url()).engine(engine);
        queue.open()
    };
    let (handled, mut handling) = mpsc::unbounded_channel();
    let consumer = open().await?.consumer().concurrency(CONSUMERS);
    let running = tokio::spawn(consumer.run(move |_| {
        let handled = handled.clone();
        async move { handled.send(Instant::now()).map_err(|_| "nobody measures") }
    }));
    let publisher = open().await?;
    publisher.publish(Message::text("before")).await?;
    handling.recv().await;
    // Into its sleep.
    tokio::time::sleep(Duration::from_secs(1)).await;

    let (connections, processor) = (proxy.connections(), processor_ms());
    match outage {
        Outage::Killed => server.kill9(),
        Outage::Frozen => server.freeze(),
        Outage::HalfOpen => {
            proxy.fall_silent().await;
            proxy.stall_all();
        }
    }
    tokio::time::sleep(length).await;
    let seconds = length.as_secs_f64();
    let processor = (processor_ms() - processor) / seconds;
    let connections = (proxy.connections() - connections) as f64 / seconds;
    match outage {
        Outage::Killed => server.restart(),
        Outage::Frozen => server.thaw(),
        Outage::HalfOpen => proxy.admit().await,
    }
    let back = Instant::now();
    // From somebody who was not away.
    let other = Queue::builder("outage").redis(server.url()).open().await?;
    other.publish(Message::text("after")).await?;
    let resumed = handling.recv().await.map(|at| at - back);
    let resumed = resumed.unwrap_or_default().as_millis();
    println!("{outage:?}, {engine:?}, {seconds}, {processor:.1}, {connections:.1}, {resumed}");
    running.abort();
    Ok(())
}

/// The processor time of this process so far, the proxy's included.
fn processor_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which may contain anything: fields 3 and on. Ticks are 10 ms.
    let fields = text.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.flat_map(|ticks| ticks.parse::<f64>()).sum::<f64>() * 10.0
}
