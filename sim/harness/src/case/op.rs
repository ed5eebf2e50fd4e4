//! The operations and faults that a case is made of: one table, from which the type, the text, the
//! bytes and the minimiser's numbers follow.

use super::moment::MOMENTS;

/// The most fields of an operation.
pub const FIELDS: usize = 4;

/// What is switched on or off together in a swarm of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Operations of clients. Never off.
    Work,
    /// Time that passes. Never off.
    Time,
    /// Requests and replies that are lost, late or doubled, and reset connections.
    Network,
    /// Restarts, failovers and flushed script caches.
    Server,
    /// Windows in which a server refuses.
    Refusal,
    /// A single call in a script that fails.
    Call,
    /// Keys that go away or are of another type.
    Key,
    /// The server's clock.
    Clock,
    /// Workers that stop for a while or for good, or share what they hold.
    Worker,
    /// What recipes need and chance does not draw: large queues, and a person who writes and removes
    /// elements by hand.
    Hand,
}

/// An operation's name and what its numbers may be.
#[derive(Debug)]
pub struct Kind {
    /// As in a case's text.
    pub name: &'static str,
    /// What it is switched on with.
    pub family: Family,
    /// How often it comes up, against others; 0: only where a case's text names it.
    pub weight: u32,
    /// The names and greatest values of its fields; the least is 0, which is the mildest.
    pub fields: &'static [(&'static str, u32)],
}

const MOMENT: u32 = MOMENTS.len() as u32 - 1;
/// Greatest number of a client.
const CLIENT: u32 = 4;
/// Greatest number of a queue.
const QUEUE: u32 = 2;
/// How many requests of a client may pass before a fault meets one.
const AFTER: u32 = 3;

macro_rules! ops {
    ($($(#[$doc:meta])* $name:literal $variant:ident $family:ident $weight:literal
        { $($field:ident: $most:expr),* })*) => {
        /// One line of a case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Op {
            $($(#[$doc])* $variant {
                $(#[doc = concat!("0 to ", stringify!($most), ".")] $field: u32),*
            }),*
        }

        /// All kinds of operations.
        pub static KINDS: &[Kind] = &[
            $(Kind {
                name: $name,
                family: Family::$family,
                weight: $weight,
                fields: &[$((stringify!($field), $most)),*],
            }),*
        ];

        #[derive(Clone, Copy)]
        enum Number { $($variant),* }

        impl Op {
            /// The number of its kind in [`KINDS`].
            pub fn kind(&self) -> usize {
                match self { $(Self::$variant { .. } => Number::$variant as usize),* }
            }

            /// Its fields in order; the rest is 0.
            pub fn numbers(&self) -> [u32; FIELDS] {
                match *self {
                    $(Self::$variant { $($field),* } => {
                        let mut numbers = [0; FIELDS];
                        let given: &[u32] = &[$($field),*];
                        numbers[..given.len()].copy_from_slice(given);
                        numbers
                    })*
                }
            }

            /// The operation of a kind; numbers that are too great wrap around.
            pub fn build(kind: usize, numbers: [u32; FIELDS]) -> Self {
                let mut numbers = numbers.into_iter();
                let mut next = |most: u32| numbers.next().unwrap_or(0) % (most + 1);
                $(if kind % KINDS.len() == Number::$variant as usize {
                    return Self::$variant { $($field: next($most)),* };
                })*
                Self::Advance { by: next(MOMENT) }
            }
        }
    };
}

ops! {
    /// Publishes one message.
    "publish" Publish Work 20 { client: CLIENT, queue: QUEUE, payload: 5 }
    /// Publishes one message under a deduplication key.
    "publish_keyed" PublishKeyed Work 8 { client: CLIENT, queue: QUEUE, key: 2 }
    /// Publishes a message that is due later.
    "publish_delayed" PublishDelayed Work 4 { client: CLIENT, queue: QUEUE, delay: MOMENT }
    /// Publishes `more` + 2 messages in one call.
    "publish_batch" PublishBatch Work 4 { client: CLIENT, queue: QUEUE, more: 3 }
    /// Claims at most `more` + 1 messages.
    "claim" Claim Work 30 { client: CLIENT, queue: QUEUE, more: 4, wait: MOMENT }
    /// Acknowledges a lease that the client holds, 0 being the newest.
    "ack" Ack Work 16 { client: CLIENT, queue: QUEUE, pick: 3 }
    /// Fails a lease that the client holds.
    "fail" Fail Work 6 { client: CLIENT, queue: QUEUE, pick: 3 }
    /// Acknowledges all leases that the client holds, in one call.
    "ack_all" AckAll Work 5 { client: CLIENT, queue: QUEUE }
    /// Acknowledges a lease that the client has settled or released before.
    "ack_old" AckOld Work 4 { client: CLIENT, queue: QUEUE, pick: 3 }
    /// Acknowledges one message with the token of another.
    "ack_crossed" AckCrossed Work 1 { client: CLIENT, queue: QUEUE }
    /// Gives a lease up.
    "release" Release Work 6 { client: CLIENT, queue: QUEUE, pick: 3, delay: MOMENT }
    /// Renews a lease.
    "renew" Renew Work 6 { client: CLIENT, queue: QUEUE, pick: 3 }
    /// Renews a lease that the client has settled or released before.
    "renew_old" RenewOld Work 2 { client: CLIENT, queue: QUEUE, pick: 3 }
    /// Moves dead letters back.
    "redrive" Redrive Work 3 { client: CLIENT, queue: QUEUE }
    /// Removes what is in a list: completed, failed, dead letters or pending.
    "purge" Purge Work 1 { client: CLIENT, queue: QUEUE, list: 3 }
    /// Looks at a list.
    "peek" Peek Work 1 { client: CLIENT, queue: QUEUE, list: 4 }
    /// Asks for the numbers.
    "stats" Stats Work 2 { client: CLIENT, queue: QUEUE }
    /// Drains the client's queue object, which a new one then replaces.
    "drain" Drain Work 2 { client: CLIENT, queue: QUEUE }
    /// Lets time pass.
    "advance" Advance Time 24 { by: MOMENT }
    /// A request is lost: the client waits for its deadline.
    "lose_request" LoseRequest Network 3 { client: CLIENT, after: AFTER }
    /// A reply is lost: the client waits for its deadline.
    "lose_reply" LoseReply Network 3 { client: CLIENT, after: AFTER }
    /// The connection is refused: the request certainly never left.
    "refuse_connection" RefuseConnection Network 1 { client: CLIENT, after: AFTER }
    /// The connection is reset before the server reads the request.
    "reset_before" ResetBefore Network 2 { client: CLIENT, after: AFTER }
    /// The connection is reset after the server has run the request.
    "reset_after" ResetAfter Network 6 { client: CLIENT, after: AFTER }
    /// The connection is reset, and the request reaches the server later all the same.
    "late_request" LateRequest Network 3 { client: CLIENT, after: AFTER, by: MOMENT }
    /// A request takes its time.
    "slow_request" SlowRequest Network 3 { client: CLIENT, after: AFTER, by: MOMENT }
    /// A reply takes its time.
    "slow_reply" SlowReply Network 3 { client: CLIENT, after: AFTER, by: MOMENT }
    /// A request reaches the server twice.
    "duplicate_request" DuplicateRequest Network 2 { client: CLIENT, after: AFTER, by: MOMENT }
    /// Of a pipeline only the first `first` commands run, and the connection is reset.
    "cut_pipeline" CutPipeline Network 2 { client: CLIENT, after: AFTER, first: 3 }
    /// The script cache is emptied.
    "flush_scripts" FlushScripts Server 2 {}
    /// The server restarts without its last `lost` scripts.
    "restart" Restart Server 1 { lost: 7 }
    /// A replica without the last `lost` scripts takes over; its clock differs.
    "failover" Failover Server 1 { lost: 7, ahead: MOMENT, behind: MOMENT }
    /// Writes are refused with READONLY for a while.
    "read_only" ReadOnly Refusal 1 { by: MOMENT }
    /// Everything is refused with LOADING for a while.
    "loading" Loading Refusal 1 { by: MOMENT }
    /// Writes are refused with MISCONF for a while.
    "misconf" Misconf Refusal 1 { by: MOMENT }
    /// Memory is full for a while.
    "out_of_memory" OutOfMemory Refusal 2 { by: MOMENT }
    /// A call of the next script fails.
    "fail_call" FailCall Call 4 { call: 45, error: 3 }
    /// A key of a queue is evicted.
    "evict" Evict Key 1 { queue: QUEUE, key: 13 }
    /// A key of a queue is of another type for a while.
    "wrong_type" WrongType Key 1 { queue: QUEUE, key: 13, by: MOMENT }
    /// The server's clock jumps forward.
    "jump_forward" JumpForward Clock 1 { by: MOMENT }
    /// The server's clock jumps back.
    "jump_back" JumpBack Clock 1 { by: MOMENT }
    /// Each call in a script takes so many milliseconds from now on.
    "tick_in_scripts" TickInScripts Clock 1 { ms: 3 }
    /// A worker stands still.
    "pause" Pause Worker 1 { client: CLIENT }
    /// A worker goes on.
    "resume" Resume Worker 2 { client: CLIENT }
    /// A worker is killed where it waits for a request: before it left, or after it ran.
    "kill" Kill Worker 3 { client: CLIENT, after: AFTER, ran: 1 }
    /// Another worker has the same leases from now on.
    "share" Share Worker 1 { from: CLIENT, to: CLIENT }
    /// A worker renews all it holds, so often; 0 ends that, and its leases starve.
    "heartbeat" Heartbeat Worker 2 { client: CLIENT, by: MOMENT }
    /// A queue has `hundreds` hundred more messages: 0 pending, 1 delayed and due, 2 under leases
    /// that are over, whose workers and delivery counts are gone.
    "fill" Fill Hand 0 { queue: QUEUE, hundreds: 100, state: 2 }
    /// Claims one message, so many times, and acknowledges all that the client holds.
    "sweep" Sweep Hand 0 { client: CLIENT, queue: QUEUE, rounds: 120 }
    /// Publishes a message that is due later under a deduplication key.
    "publish_delayed_keyed" PublishDelayedKeyed Hand 0
        { client: CLIENT, queue: QUEUE, key: 2, delay: MOMENT }
    /// A program without envelopes pushes an element.
    "push_foreign" PushForeign Hand 0 { queue: QUEUE }
    /// Somebody removes the claim end's element by hand: 0 from pending, 1 from processing.
    "remove_by_hand" RemoveByHand Hand 0 { queue: QUEUE, list: 1 }
}
