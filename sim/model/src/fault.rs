//! Small mistakes that can be built in, to see whether the tests find them.

use crate::server::Server;
use crate::state::State;

/// A mistake that somebody could have made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// `LREM` with a negative count removes from the head.
    RemovesFromHead,
    /// `ZADD … GT` adds no new members.
    GreaterNeverAdds,
    /// `EXPIRE … GT` sets a time to live where there is none.
    GreaterThanEndless,
    /// `DECR` and `DECRBY` wrap around below the smallest number.
    DecrementWraps,
    /// `EXEC` runs although a watched key has changed.
    WatchSeesNothing,
    /// Scripts get an empty string for a missing value.
    MissingIsEmptyInScripts,
}

impl Fault {
    /// All of them.
    pub const ALL: [Fault; 6] = [
        Fault::RemovesFromHead,
        Fault::GreaterNeverAdds,
        Fault::GreaterThanEndless,
        Fault::DecrementWraps,
        Fault::WatchSeesNothing,
        Fault::MissingIsEmptyInScripts,
    ];
}

impl Server {
    /// Makes a mistake from now on. [`Server::reset`] does not end that.
    pub fn plant(&mut self, fault: Fault) {
        self.state.fault = Some(fault);
    }
}

impl State {
    pub(crate) fn makes(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }
}
