//! What will happen when: events by virtual time, and by the order in which they were added.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use leaseline_redis_model::Condition;

use crate::view::Part;

/// Something that will happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A request reaches the server.
    Arrive { request: usize },
    /// An answer, put aside before, reaches its client.
    Answer { ticket: usize },
    /// A client's deadline for a request.
    Deadline { ticket: usize },
    /// A pause of a client is over.
    Wake { ticket: usize },
    /// A worker renews what it holds, if it still does so.
    Beat { client: usize, beats: u32 },
    /// A refusal of the server ends, unless it was prolonged.
    Lift { condition: Condition, imposed: u32 },
    /// A key has its own type again.
    Uncover { queue: usize, part: Part },
}

/// The events to come.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    added: u64,
}

impl Agenda {
    /// Adds an event at a time.
    pub(crate) fn add(&mut self, at_us: u64, event: Event) {
        self.added += 1;
        self.events.push(Reverse((at_us, self.added, event)));
    }

    /// The next event, if it is not after a time.
    pub(crate) fn next(&mut self, until_us: u64) -> Option<(u64, Event)> {
        let Reverse((at_us, ..)) = self.events.peek()?;
        if *at_us > until_us {
            return None;
        }
        self.events
            .pop()
            .map(|Reverse((at_us, _, event))| (at_us, event))
    }
}
