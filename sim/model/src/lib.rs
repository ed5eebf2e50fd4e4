//! A Redis in this process: keyspace, commands and scripting, under the caller's clock.
//!
//! It runs the Lua scripts that run on a real server, byte for byte, so that a test or a
//! simulation decides what time it is, which call fails and when memory is full. Its answers
//! follow Redis 7.0.15, checked against recorded replies (`tests/transcripts.rs`) and against a
//! real server side by side (`tests/differential.rs`). Where it cannot follow it says so: see
//! [`Server::unsupported`].
//!
//! ```
//! use std::time::Duration;
//! use leaseline_redis_model::{Clock, Options, Profile, Reply, Server};
//!
//! let mut server = Server::new(Options {
//!     profile: Profile::Redis70,
//!     clock: Clock::Virtual(1_700_000_000_000_000),
//! });
//! let script = b"return redis.call('SET', KEYS[1], ARGV[1], 'PX', 1000)";
//! let reply = server.execute(&[b"EVAL", script, b"1", b"lease", b"mine"]);
//! assert_eq!(reply, Reply::Status(b"OK".to_vec()));
//! server.advance(Duration::from_millis(1001));
//! assert_eq!(server.execute(&[b"GET", b"lease"]), Reply::Nil);
//! ```

mod arguments;
mod client;
mod client_line;
mod clock;
mod commands;
mod condition;
mod dispatch;
mod dump;
mod dump_stream;
#[cfg(feature = "planted-faults")]
mod fault;
mod fields;
mod glob;
mod keyspace;
mod lex_range;
#[cfg(feature = "listener")]
mod listener;
mod map;
mod number;
mod random;
mod refusal;
mod reply;
mod script;
mod server;
mod session;
mod set;
mod shape;
mod sorted_set;
mod state;
mod stream;
mod support;
#[cfg(test)]
mod test_server;
mod text;
mod value;
mod wait;
mod waiting;
mod words;

pub use client::ClientId;
pub use clock::{Clock, ScriptTime};
pub use condition::Condition;
pub use dump::{Content, Entry};
pub use dump_stream::{GroupContent, PendingContent, StreamContent};
#[cfg(feature = "planted-faults")]
pub use fault::Fault;
#[cfg(feature = "listener")]
pub use listener::{Handle, Listener};
pub use reply::Reply;
pub use server::{Options, Saved, Server};
pub use shape::Protocol;
pub use state::Profile;
pub use support::{CommandSupport, Support, commands};
