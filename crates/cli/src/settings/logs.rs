//! Whether settled payloads are kept.

use clap::Args;
use leaseline::Config;
use leaseline::config::Log;

use super::{File, take};

/// The log of acknowledged payloads.
#[derive(Args)]
pub(crate) struct CompletedLog {
    /// Keep acknowledged payloads in the completed log, and the log this long; 0 is no log
    /// [default: 0]
    #[arg(long, value_name = "N", env = "LEASELINE_MAX_COMPLETED_LENGTH")]
    max_completed_length: Option<u64>,
}

impl CompletedLog {
    /// Takes from the file what is not given.
    pub(crate) fn fill(&mut self, file: &File) {
        take(&mut self.max_completed_length, &file.max_completed_length);
    }

    /// Puts the choice into a configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.completed = log(self.max_completed_length);
    }
}

/// The log of failed payloads.
#[derive(Args)]
pub(crate) struct FailedLog {
    /// Keep failed payloads in the failed log, and the log this long; 0 is no log [default: 0]
    ///
    /// Without it a message that fails is gone.
    #[arg(long, value_name = "N", env = "LEASELINE_MAX_FAILED_LENGTH")]
    max_failed_length: Option<u64>,
}

impl FailedLog {
    /// Takes from the file what is not given.
    pub(crate) fn fill(&mut self, file: &File) {
        take(&mut self.max_failed_length, &file.max_failed_length);
    }

    /// Puts the choice into a configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        config.failed = log(self.max_failed_length);
    }
}

fn log(length: Option<u64>) -> Log {
    match length {
        None | Some(0) => Log::Off,
        Some(length) => Log::Capped(length),
    }
}
