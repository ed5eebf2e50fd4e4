//! A real `redis-server`, a cluster of them or a set with sentinels, and a proxy in front of it that loses connections on purpose.
//!
//! Behind the cargo feature `testing`; meant for the tests of this crate and of those above it.
//! Everything here panics instead of returning errors, because a test can do nothing else.
//!
//! ```no_run
//! # async fn run() {
//! use leaseline_redis::testing::{Cut, Fault, FaultProxy, RedisServer, Rule};
//!
//! let server = RedisServer::start();
//! let proxy = FaultProxy::start(server.port()).await;
//! // The third script call runs, but its reply is lost with the connection.
//! proxy.inject(Rule::nth(3, Fault::LoseReply(Cut::Reset)).of(["EVALSHA", "EVAL"]));
//! let url = proxy.url();
//! # }
//! ```

mod cluster;
mod proxy;
mod rule;
mod sentinels;
mod server;
mod tunnel;

pub use cluster::RedisCluster;
pub use proxy::FaultProxy;
pub use rule::{Cut, Fault, Rule};
pub use sentinels::RedisSentinels;
pub use server::{RedisServer, RedisServerBuilder, free_port};
