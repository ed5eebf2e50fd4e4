//! Finding the master, with sentinels that say what the test wants.

mod support;

use std::sync::{Arc, Mutex};

use leaseline_core::capability::{RedisError, Value};
use leaseline_redis::OpenError;
use leaseline_redis::testing::{RedisServer, free_port};
use support::{PATIENT, connector, open, run};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;

/// A sentinel that names one port of 127.0.0.1 as the master, whatever the service.
struct Sentinel {
    port: u16,
    named: Arc<Mutex<u16>>,
}

impl Sentinel {
    async fn naming(master: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let named = Arc::new(Mutex::new(master));
        let answer = named.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let answer = answer.clone();
                tokio::spawn(async move {
                    let (reader, mut writer) = socket.split();
                    let mut lines = BufReader::new(reader).lines();
                    while let Ok(Some(line)) = lines.next_line().await {
                        // Only the words that end a command, or make one alone.
                        let reply = match &*line {
                            "PING" | "leaseline" | "waiter" => "+OK\r\n".to_owned(),
                            "jobs" => {
                                let port = answer.lock().expect("no panic").to_string();
                                let length = port.len();
                                format!("*2\r\n$9\r\n127.0.0.1\r\n${length}\r\n{port}\r\n")
                            }
                            "other" => "*-1\r\n".to_owned(),
                            _ => continue,
                        };
                        if writer.write_all(reply.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self { port, named }
    }

    fn name(&self, master: u16) {
        *self.named.lock().expect("no panic") = master;
    }
}

fn url(ports: &[u16], service: &str) -> String {
    let hosts: Vec<String> = ports
        .iter()
        .map(|port| format!("127.0.0.1:{port}"))
        .collect();
    format!("redis+sentinel://{}/{service}/2", hosts.join(","))
}

async fn demote(server: &RedisServer, below: u16) {
    let direct = open(&server.url()).await;
    let command = format!("REPLICAOF 127.0.0.1 {below}");
    run(&direct, &command, PATIENT).await.expect("demoted");
}

/// Dead sentinels and those that still name a replica are passed over.
#[tokio::test]
async fn sentinels_are_asked_in_turn() {
    let (master, replica) = (RedisServer::start(), RedisServer::start());
    demote(&replica, master.port()).await;
    let behind = Sentinel::naming(replica.port()).await;
    let current = Sentinel::naming(master.port()).await;
    let redis = open(&url(&[free_port(), behind.port, current.port], "jobs")).await;
    run(&redis, "SET k v", PATIENT).await.expect("a master");
    let direct = open(&format!("{}2", master.url().trim_end_matches('0'))).await;
    let found = run(&direct, "EXISTS k", PATIENT).await;
    assert_eq!(
        found,
        Ok(vec![Value::Int(1)]),
        "in the database of the address"
    );

    let error = connector(&url(&[behind.port], "jobs")).open().await;
    let error = error.expect_err("a replica");
    assert!(matches!(error, OpenError::NotMaster { .. }), "{error}");
    let error = connector(&url(&[current.port], "other")).open().await;
    let error = error.expect_err("no such service");
    assert!(matches!(error, OpenError::UnknownService { .. }), "{error}");
}

/// The connection stays open, and the server at its end becomes a replica: the `READONLY` with which
/// it answers is enough to look for the master again.
#[tokio::test]
async fn a_demoted_master_is_left() {
    let (first, second) = (RedisServer::start(), RedisServer::start());
    let sentinel = Sentinel::naming(first.port()).await;
    let address = url(&[sentinel.port], "jobs");
    let shared = open(&address).await;
    let own = connector(&address).dedicated("waiter");
    run(&shared, "LPUSH l a", PATIENT).await.expect("a master");
    run(&own, "LPUSH l a", PATIENT).await.expect("a master");
    demote(&first, second.port()).await;
    sentinel.name(second.port());
    for reply in [
        run(&shared, "LPUSH l a", PATIENT).await,
        run(&own, "LPUSH l a", PATIENT).await,
    ] {
        match reply {
            Err(RedisError::Server(error)) => assert_eq!(error.code, "READONLY"),
            other => panic!("{other:?}"),
        }
    }
    run(&shared, "LPUSH l a", PATIENT)
        .await
        .expect("the new master");
    run(&own, "BLMOVE l l LEFT LEFT 1", PATIENT)
        .await
        .expect("the new master");
}
