//! The queue: one object over one Redis, serving one call at a time.
//!
//! Everything that could differ between hosts is behind [`crate::capability`], so a native engine,
//! the component and the simulator run the same code.

mod claim;
mod drain;
mod operate;
mod peek;
mod publish;
mod purge;
mod release;
mod renew;
mod settle;

pub use claim::MAX_CLAIM;
pub use peek::MAX_PEEK;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::caller::Caller;
use crate::capability::{Clock, Entropy, Redis};
use crate::claim_ids::ClaimIds;
use crate::config::{Config, MAX_DURATION_MS};
use crate::error::{Error, ErrorKind};
use crate::event::{Event, EventBatch, EventBuffer, Operation, Outcome};
use crate::id;
use crate::key::Keys;
use crate::retry::MARKER_MARGIN_MS;

/// A queue.
///
/// Calls take `&mut self`: hosts that want several calls at once use several objects, and move
/// unresolved claims between them with [`take_pending_claims`](Self::take_pending_claims) and
/// [`adopt_claims`](Self::adopt_claims). Dropping the future of a call leaves its outcome unknown;
/// the object stays usable, and a claim that was cut so is answered by the next one.
pub struct Queue<R, C, E> {
    config: Config,
    keys: Keys,
    caller: Caller<R, C, E>,
    claim_ids: ClaimIds,
    events: EventBuffer,
    drained: bool,
}

impl<R: Redis, C: Clock, E: Entropy> Queue<R, C, E> {
    /// Checks the configuration. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`crate::ErrorKind::Configuration`] for the first rule that the configuration breaks.
    pub fn new(config: Config, redis: R, clock: C, entropy: E) -> Result<Self, Error> {
        config.validate()?;
        Ok(Self {
            keys: config.keys(),
            caller: Caller::new(&config, redis, clock, entropy),
            claim_ids: ClaimIds::default(),
            events: EventBuffer::new(config.event_buffer as usize),
            drained: false,
            config,
        })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The names of the queue's keys.
    pub fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Hands over the ids of claims whose outcome is not known, for another object to resolve.
    /// This one forgets them: two objects that resolve one id would both hold its message.
    pub fn take_pending_claims(&mut self) -> Vec<String> {
        self.claim_ids.take()
    }

    /// Takes over claim ids. The next claim answers them first.
    pub fn adopt_claims(&mut self, claim_ids: Vec<String>) {
        self.claim_ids.open(claim_ids);
    }

    /// Takes the buffered events.
    pub fn take_events(&mut self) -> EventBatch {
        self.events.take()
    }

    fn mint(&self) -> String {
        id::mint(&self.caller.entropy)
    }

    fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    fn event(&self, operation: Operation, outcome: Outcome, started_ms: u64) -> Event {
        let mut event = Event::new(operation, outcome);
        event.duration_ms = Some(self.caller.clock.now_ms().saturating_sub(started_ms));
        event
    }

    /// Only the reclaim of leases brings a delayed message back.
    fn check_delay(&self, delay_ms: u64) -> Result<(), Error> {
        if self.config.visibility_timeout_ms.is_none() {
            return Err(Error::new(
                ErrorKind::Configuration,
                "this queue is configured without leases, which a delayed message needs to come back; set a visibility timeout, or do without a delay",
            ));
        }
        if delay_ms > MAX_DURATION_MS {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!("the delay is {delay_ms} ms; use at most {MAX_DURATION_MS} (ten years)"),
            ));
        }
        Ok(())
    }

    /// How long the marker of an operation may be needed: as long as its retries can last.
    fn marker_ttl_ms(&self) -> u64 {
        let overshoot =
            self.config.retry_max_delay_ms + 2 * u64::from(self.config.command_timeout_ms);
        self.config.retry_budget_ms + overshoot.max(MARKER_MARGIN_MS)
    }
}
