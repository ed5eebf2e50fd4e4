//! How much a script may do. Redis has no such limits, but a test has to end.

use std::fmt;

/// The limits of a script.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// How many instructions a script may run.
    pub(super) instructions: u64,
    /// How many bytes a script may add to what the Lua state holds.
    pub(super) memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            // A second or so.
            instructions: 500_000_000,
            memory: 256 << 20,
        }
    }
}

/// What a script has used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Instructions,
    Memory,
    Time,
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Limit::Instructions => "leaseline-redis-model stops after so many instructions",
            Limit::Memory => "leaseline-redis-model stops after so much memory",
            Limit::Time => "leaseline-redis-model stops after so long a time",
        })
    }
}

/// A line of Lua code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The code's name as error texts begin with it.
    pub(super) shown: String,
    /// The code's name as it was given, such as `@user_script`.
    pub(super) source: String,
    pub(super) line: i32,
}

/// Why a script was stopped, and where, as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    pub(super) limit: Limit,
    pub(super) place: Option<Place>,
}

impl Stop {
    /// The error line for the script of this name.
    pub(super) fn line(&self, script: &str) -> String {
        let limit = self.limit;
        match &self.place {
            Some(Place {
                shown,
                source,
                line,
            }) => format!("ERR {shown}:{line}: {limit} script: {script}, on {source}:{line}."),
            None => format!("ERR {limit} script: {script}"),
        }
    }
}
