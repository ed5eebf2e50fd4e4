//! What holds for every command that opens a queue.

use std::time::Duration;

use clap::Args;
use leaseline::Config;

use super::{File, take};
use crate::duration::{milliseconds, positive_seconds, seconds};

/// What holds for every command that opens a queue.
#[derive(Args)]
#[command(next_help_heading = "Settings of the queue")]
pub(crate) struct Shared {
    /// Between the queue's name and the rest of a key [default: ::]
    #[arg(
        long,
        value_name = "TEXT",
        global = true,
        env = "LEASELINE_KEY_SEPARATOR"
    )]
    key_separator: Option<String>,

    /// The list for dead letters [default: name, separator, dlq]
    #[arg(
        long,
        value_name = "KEY",
        global = true,
        env = "LEASELINE_DEAD_LETTER_QUEUE"
    )]
    dead_letter_queue: Option<String>,

    /// Treat stored messages without an envelope as malformed, not as bare payloads
    #[arg(
        long,
        global = true,
        env = "LEASELINE_STRICT_ENVELOPE_DECODING",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_name = "BOOL",
    )]
    strict_envelope_decoding: Option<bool>,

    /// How long a call is retried after a failure that may pass; 0 is not at all [default: 120]
    #[arg(long, value_name = "SECONDS", global = true, env = "LEASELINE_RETRY_BUDGET", value_parser = seconds)]
    retry_budget: Option<Duration>,

    /// The first pause between retries; it doubles [default: 0.01]
    #[arg(long, value_name = "SECONDS", global = true, env = "LEASELINE_RETRY_INITIAL_DELAY", value_parser = positive_seconds)]
    retry_initial_delay: Option<Duration>,

    /// The longest pause between retries [default: 5]
    #[arg(long, value_name = "SECONDS", global = true, env = "LEASELINE_RETRY_MAX_DELAY", value_parser = positive_seconds)]
    retry_max_delay: Option<Duration>,

    /// The deadline of each Redis command [default: 5]
    #[arg(long, value_name = "SECONDS", global = true, env = "LEASELINE_COMMAND_TIMEOUT", value_parser = positive_seconds)]
    command_timeout: Option<Duration>,
}

impl Shared {
    /// Takes from the file what is not given.
    pub(crate) fn fill(&mut self, file: &File) {
        take(&mut self.key_separator, &file.key_separator);
        take(&mut self.dead_letter_queue, &file.dead_letter_queue);
        take(
            &mut self.strict_envelope_decoding,
            &file.strict_envelope_decoding,
        );
        take(&mut self.retry_budget, &file.retry_budget);
        take(&mut self.retry_initial_delay, &file.retry_initial_delay);
        take(&mut self.retry_max_delay, &file.retry_max_delay);
        take(&mut self.command_timeout, &file.command_timeout);
    }

    /// There will be no dead letters, whatever was said about their list.
    pub(crate) fn ignore_dead_letter_queue(&mut self) {
        self.dead_letter_queue = None;
    }

    /// Puts the choices into a configuration.
    pub(crate) fn apply(&self, config: &mut Config) {
        if let Some(separator) = &self.key_separator {
            config.key_separator.clone_from(separator);
        }
        config.dead_letter_queue.clone_from(&self.dead_letter_queue);
        config.strict_envelope_decoding = self.strict_envelope_decoding.unwrap_or_default();
        if let Some(budget) = self.retry_budget {
            config.retry_budget_ms = milliseconds(budget);
        }
        if let Some(delay) = self.retry_initial_delay {
            config.retry_initial_delay_ms = milliseconds(delay);
        }
        if let Some(delay) = self.retry_max_delay {
            config.retry_max_delay_ms = milliseconds(delay);
        }
        if let Some(timeout) = self.command_timeout {
            config.command_timeout_ms = milliseconds(timeout).try_into().unwrap_or(u32::MAX);
        }
    }
}
