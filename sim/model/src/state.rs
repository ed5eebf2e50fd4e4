//! Everything a command other than `EVAL` may touch.

use std::collections::BTreeSet;

use crate::clock::Time;
use crate::keyspace::Keyspace;
use crate::number;
use crate::refusal::Refusal;
use crate::shape::{Protocol, Shape};

/// The Redis whose rules apply where versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Profile {
    /// Redis 7.0.15 as Debian 12 ships it, which is what the recorded answers come from.
    #[default]
    Redis70,
    /// Redis 7.2: shortest text of doubles, `CLIENT SETINFO`.
    Redis72,
}

impl Profile {
    pub(crate) fn version(self) -> &'static str {
        match self {
            Profile::Redis70 => "7.0.15",
            Profile::Redis72 => "7.2.6",
        }
    }

    /// `redis.REDIS_VERSION_NUM`: a byte each for major, minor and patch.
    pub(crate) fn version_number(self) -> u32 {
        match self {
            Profile::Redis70 => 0x0007_000f,
            Profile::Redis72 => 0x0007_0206,
        }
    }

    /// The text of a score, and of a number that a script passes to `redis.call`.
    pub(crate) fn format_double(self, value: f64) -> String {
        match self {
            Profile::Redis70 => number::format_g(value, 17),
            Profile::Redis72 => number::format_shortest(value),
        }
    }
}

/// The server's data and settings.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) keys: Keyspace,
    pub(crate) time: Time,
    pub(crate) profile: Profile,
    /// Whether `maxmemory` is exceeded, with the policy `noeviction`.
    pub(crate) out_of_memory: bool,
    /// Lower-case names of commands that the access rules refuse to scripts.
    pub(crate) denied: BTreeSet<String>,
    pub(crate) client_name: Vec<u8>,
    /// The protocol of the client, or script, whose command runs.
    pub(crate) protocol: Protocol,
    /// Whether the one whose command runs may be made to wait.
    pub(crate) may_wait: bool,
    /// What was asked for and could not be modelled, in order.
    pub(crate) unsupported: Vec<String>,
}

impl State {
    pub(crate) fn new(profile: Profile, time: Time) -> Self {
        State {
            keys: Keyspace::default(),
            time,
            profile,
            out_of_memory: false,
            denied: BTreeSet::new(),
            client_name: Vec::new(),
            protocol: Protocol::default(),
            may_wait: false,
            unsupported: Vec::new(),
        }
    }

    /// Lets keys expire up to now. Once per command of a client, and once per script.
    pub(crate) fn look_at_the_clock(&mut self) {
        self.keys.set_now(self.time.now_ms());
    }

    /// What makes replies for the one whose command runs.
    pub(crate) fn shape(&self) -> Shape {
        Shape {
            profile: self.profile,
            protocol: self.protocol,
        }
    }

    /// Remembers a gap of the model.
    pub(crate) fn note(&mut self, refusal: &Refusal) {
        if let Refusal::Unsupported(what) = refusal {
            self.unsupported.push(what.clone());
        }
    }
}
