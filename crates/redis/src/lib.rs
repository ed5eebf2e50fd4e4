//! The Redis capability of Leaseline over redis-rs.
//!
//! [`Connector`] holds an address and options; [`Connection`] is the shared handle that
//! implements [`leaseline_core::capability::Redis`]. Clones share one multiplexed connection,
//! which is dialled when it is needed and dialled again when it is lost. [`Dedicated`] is a
//! connection that one caller has for itself, to block on it.
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use leaseline_core::capability::{Redis, Value};
//! use leaseline_redis::Connector;
//!
//! let redis = Connector::new("redis://127.0.0.1:6379/0")?.open().await?;
//! let reply = redis.execute(&[b"PING"], 1_000).await?;
//! assert_eq!(reply, [Value::Status("PONG".into())]);
//! # Ok(())
//! # }
//! ```
//!
//! # What a caller can rely on
//!
//! * **Nothing is ever sent twice.** A lost connection is dialled again, a lost command is not
//!   sent again: only the queue logic knows which commands may be repeated.
//! * [`NotSent`](leaseline_core::capability::RedisError::NotSent) is said only when no byte of the
//!   command can have left: dialling failed, or the socket was gone and had accepted no byte since
//!   the command was handed over. Everything else is `Unknown`.
//! * **Every wait ends.** Dialling has its own limit, a call has its `timeout_ms`. A connection on
//!   which a call timed out gets no further calls (see [`Connection`]).
//! * **No secret is printed.** Errors, `Debug` and `Display` show host, port and database only.
//!
//! # Clusters and sentinels
//!
//! `redis+cluster://` sends each call to the node that owns its keys, `redis+sentinel://` finds the
//! master whenever it dials; see [`Connector::new`] and [`Connection`].
//!
//! # Replies
//!
//! The connection speaks RESP2, so that a double or a map arrives as Redis has always sent it.
//! Arrays and sets are flattened in preorder; a nil array and a nil bulk string are both `Nil`; an
//! empty array adds nothing. RESP3's other types, should a server send one, become: boolean
//! `Int`, double, big number and verbatim string `Bytes`; map, push and attribute are
//! `UnsupportedReply`. So is an error *inside* an array: flattened, it would look like data. In a
//! pipeline one such reply makes the whole pipeline `UnsupportedReply`, because a pipeline's
//! elements have no other place for it; the commands ran.

mod address;
mod backend;
mod cluster;
mod command;
mod connection;
mod connector;
mod dedicated;
mod dial;
mod error;
mod key;
mod line;
mod link;
mod node;
mod place;
mod policy;
mod reply;
mod sentinel;
mod tls;
mod wire;

#[cfg(feature = "testing")]
pub mod testing;

pub use connection::Connection;
pub use connector::Connector;
pub use dedicated::Dedicated;
pub use error::OpenError;
