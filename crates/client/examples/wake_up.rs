//! How soon a sleeping consumer handles a message, and what it costs the server to sleep.
//!
//! `cargo run -p leaseline --example wake_up -- redis://127.0.0.1:6379`, on a server that nobody
//! else uses: the commands of all its clients are counted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use leaseline::capability::{Redis, RedisError, Value};
use leaseline::{Connection, Engine, Error, Queue};
use leaseline_redis::Connector;
use tokio::sync::mpsc;

/// Messages, one at a time, each to a consumer that sleeps.
const MESSAGES: usize = 1_000;

/// Between messages: long enough to fall asleep again.
const PAUSE: Duration = Duration::from_millis(10);

/// How long commands are counted while nothing happens.
const IDLE: Duration = Duration::from_secs(20);

#[tokio::main]
async fn main() -> Result<(), Error> {
    let url = std::env::args().nth(1);
    let url = url.unwrap_or_else(|| "redis://127.0.0.1:6379".into());
    let connection = Connection::open(&url).await?;
    println!("engine, consumers, wake-up p50 ms, p99 ms, most ms, commands a second when idle");
    println!(
        "Redis alone, 1, {}, -",
        summary(alone(&connection, &url).await?)
    );
    for engine in [Engine::Native, Engine::Component] {
        for consumers in [1, 50] {
            measure(&connection, engine, consumers).await?;
        }
    }
    Ok(())
}

async fn measure(connection: &Connection, engine: Engine, consumers: usize) -> Result<(), Error> {
    let name = format!("wake-up-{}", std::process::id());
    let open = || {
        Queue::builder(&name)
            .connection(connection.clone())
            .engine(engine)
    };
    let (queue, publisher) = (open().open().await?, open().open().await?);
    let (handled, mut handling) = mpsc::unbounded_channel();
    let mut running = Vec::new();
    for _ in 0..consumers {
        let handled = handled.clone();
        running.push(tokio::spawn(queue.consumer().run(move |_| {
            let handled = handled.clone();
            async move { handled.send(Instant::now()).map_err(|_| "nobody measures") }
        })));
    }
    // From before the publish to the start of the handler: two scripts and the wake-up.
    let mut latencies = Vec::with_capacity(MESSAGES);
    for _ in 0..MESSAGES {
        tokio::time::sleep(PAUSE).await;
        let published = Instant::now();
        publisher.publish("message").await?;
        if let Some(handled) = handling.recv().await {
            latencies.push(handled - published);
        }
    }
    let before = commands(connection).await?;
    tokio::time::sleep(IDLE).await;
    let idle = (commands(connection).await? - before) as f64 / IDLE.as_secs_f64();
    println!("{engine:?}, {consumers}, {}, {idle:.2}", summary(latencies));
    queue.drain(Duration::from_secs(10)).await?;
    for consumer in running {
        // One that was broken off has told so.
        if let Ok(ended) = consumer.await {
            ended?;
        }
    }
    connection
        .execute(
            &[
                b"DEL",
                format!("{name}::processing:lease_token_counter").as_bytes(),
            ],
            5_000,
        )
        .await?;
    Ok(())
}

/// What the machine and Redis take by themselves: from a push to the end of a wait for it.
async fn alone(connection: &Connection, url: &str) -> Result<Vec<Duration>, Error> {
    let key = format!("wake-up-{}", std::process::id());
    let waiting = Arc::new(
        Connector::new(url)
            .map_err(RedisError::from)?
            .dedicated("wake-up"),
    );
    let mut latencies = Vec::with_capacity(MESSAGES);
    for _ in 0..MESSAGES {
        let (waiting, list) = (Arc::clone(&waiting), key.clone());
        let woken = tokio::spawn(async move {
            let list = list.as_bytes();
            let reply = waiting
                .execute(&[b"BLMOVE", list, list, b"RIGHT", b"RIGHT", b"0"], 60_000)
                .await;
            reply.map(|_| Instant::now())
        });
        tokio::time::sleep(PAUSE).await;
        let pushed = Instant::now();
        connection
            .execute(&[b"LPUSH", key.as_bytes(), b"message"], 5_000)
            .await?;
        if let Ok(woken) = woken.await {
            latencies.push(woken? - pushed);
        }
        connection.execute(&[b"DEL", key.as_bytes()], 5_000).await?;
    }
    Ok(latencies)
}

/// The middle, the 99th percentile and the longest, in milliseconds.
fn summary(mut latencies: Vec<Duration>) -> String {
    latencies.sort();
    let at = |percent: usize| {
        latencies.get((latencies.len() * percent / 100).min(latencies.len().saturating_sub(1)))
    };
    let ms = |percent| at(percent).map_or(f64::NAN, |latency| latency.as_secs_f64() * 1_000.0);
    format!("{:.2}, {:.2}, {:.2}", ms(50), ms(99), ms(100))
}

/// The scripts and waits that the server has run for clients; what scripts do is not counted.
async fn commands(connection: &Connection) -> Result<u64, Error> {
    let reply = connection
        .execute(&[b"INFO", b"commandstats"], 5_000)
        .await?;
    let [Value::Bytes(stats)] = &reply[..] else {
        return Ok(0);
    };
    let stats = String::from_utf8_lossy(stats);
    let calls = stats.lines().filter_map(|line| {
        let (command, numbers) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let counted = ["evalsha", "eval", "blmove"].contains(&command);
        counted.then(|| numbers.split(',').next()?.parse::<u64>().ok())?
    });
    Ok(calls.sum())
}
