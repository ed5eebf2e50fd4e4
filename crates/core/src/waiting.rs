//! How idle consumers wait for messages, for hosts that can afford a connection that blocks.
//!
//! Claims never block: they are scripts that can be repeated. A host that wants to sleep between
//! them has one waiter for each queue, however many of its consumers sleep. The waiter has a
//! connection of its own, asks the server about the queue ([`Watch::outlook`]), waits for an
//! element of `pending` without taking it ([`Watch::block`]), and then lets one sleeper claim.
//! [`Pace`] says which of these is next and for how long. A reply that is lost costs nothing but
//! time, because nothing here changes the queue.

mod pace;
mod watch;

pub use pace::{Pace, Step};
pub use watch::{Outlook, Watch};

/// The longest sleep without a look at the queue: what a wake-up that gets lost can cost, and how
/// late a message can be that came due by a change made during the sleep. A round of an idle queue
/// is three commands: a question, a wait and a claim.
pub const LONGEST_SLEEP_MS: u64 = 2_000;

/// The pause between looks where nothing wakes: two claims a second.
pub const POLL_INTERVAL_MS: u64 = 500;
