//! A real `redis-server`, and a proxy in front of it that loses connections on purpose.
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

mod proxy;
mod rule;
mod server;
mod tunnel;

pub use proxy::FaultProxy;
pub use rule::{Cut, Fault, Rule};
pub use server::{RedisServer, RedisServerBuilder, free_port};
