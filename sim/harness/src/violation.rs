//! Something that must hold and does not.

use std::fmt;

/// What a run found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The property that does not hold: a checker's name.
    pub property: &'static str,
    /// The number of the command at which it was seen.
    pub step: u64,
    /// What was seen.
    pub message: String,
}

impl Violation {
    pub(crate) fn new(property: &'static str, step: u64, message: impl Into<String>) -> Self {
        Self {
            property,
            step,
            message: message.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} (command {}): {}",
            self.property, self.step, self.message
        )
    }
}

impl std::error::Error for Violation {}
