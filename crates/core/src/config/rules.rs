//! The rules a configuration must keep, checked in this order. A breach names its remedy.

use alloc::format;
use alloc::string::String;

use super::{Config, Log, OverloadPolicy};
use crate::error::{Error, ErrorKind};
use crate::key::Keys;
use crate::slot;

/// The longest duration that a queue accepts: ten years. Far beyond any use, and far
/// from where a Lua number would lose a millisecond.
pub(crate) const MAX_DURATION_MS: u64 = 10 * 366 * 24 * 60 * 60 * 1000;

impl Config {
    /// The defaults for the queue `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            key_separator: "::".into(),
            visibility_timeout_ms: Some(300_000),
            max_delivery_count: Some(10),
            dead_letter_queue: None,
            deduplication_ttl_ms: 3_600_000,
            completed: Log::Off,
            failed: Log::Off,
            max_payload_bytes: None,
            max_pending_length: None,
            overload_policy: OverloadPolicy::Raise,
            overload_block_timeout_ms: 1_000,
            strict_envelope_decoding: false,
            retry_budget_ms: 120_000,
            retry_initial_delay_ms: 10,
            retry_max_delay_ms: 5_000,
            command_timeout_ms: 5_000,
            cluster: false,
            event_buffer: 1_024,
        }
    }

    /// Checks every rule.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`] for the first breach.
    pub fn validate(&self) -> Result<(), Error> {
        self.check_names()?;
        self.check_limits()?;
        self.check_overload()?;
        self.check_durations()?;
        self.check_keys()
    }

    /// The keys of this queue.
    pub fn keys(&self) -> Keys {
        Keys::new(
            &self.name,
            &self.key_separator,
            self.max_delivery_count.is_some(),
            self.dead_letter_queue.as_deref(),
        )
    }

    fn check_names(&self) -> Result<(), Error> {
        if self.name.trim().is_empty() {
            return breach("the queue name is blank; give it a name");
        }
        if self.name.contains('\0') {
            return breach("the queue name contains a NUL character; use another name");
        }
        if self.key_separator.trim().is_empty() {
            return breach("the key separator is blank; use one such as '::'");
        }
        if self.name.contains(&self.key_separator) {
            return breach(&format!(
                "the queue name contains the key separator '{}', so its keys could collide with another queue's; use another name",
                self.key_separator
            ));
        }
        Ok(())
    }

    fn check_limits(&self) -> Result<(), Error> {
        let limits = [
            ("max_payload_bytes", self.max_payload_bytes),
            ("max_completed_length", self.completed.cap()),
            ("max_failed_length", self.failed.cap()),
            ("max_delivery_count", self.max_delivery_count.map(u64::from)),
            ("max_pending_length", self.max_pending_length),
        ];
        for (name, limit) in limits {
            if limit == Some(0) {
                return breach(&format!("{name} is 0; use 1 or more, or leave it out"));
            }
        }
        if self.max_delivery_count.is_some() && self.visibility_timeout_ms.is_none() {
            return breach(
                "max_delivery_count needs a visibility timeout; set one, or remove the delivery limit",
            );
        }
        match &self.dead_letter_queue {
            Some(_) if self.max_delivery_count.is_none() => breach(
                "dead_letter_queue needs max_delivery_count; set it, or remove the dead-letter queue",
            ),
            Some(key) if key.trim().is_empty() => {
                breach("dead_letter_queue is blank; name a list, or leave it out")
            }
            _ => Ok(()),
        }
    }

    fn check_overload(&self) -> Result<(), Error> {
        if self.overload_policy == OverloadPolicy::Raise {
            return Ok(());
        }
        if self.max_pending_length.is_none() {
            return breach(
                "the overload policies drop_oldest and block need max_pending_length; set it, or use raise",
            );
        }
        if self.overload_policy == OverloadPolicy::DropOldest && self.max_delivery_count.is_some() {
            return breach(
                "drop_oldest removes messages that were delivered before, which a delivery limit counts on; remove max_delivery_count, or use raise or block",
            );
        }
        Ok(())
    }

    fn check_durations(&self) -> Result<(), Error> {
        let durations = [
            (
                "visibility_timeout_ms",
                self.visibility_timeout_ms.unwrap_or(1),
                1,
            ),
            ("deduplication_ttl_ms", self.deduplication_ttl_ms, 1),
            (
                "overload_block_timeout_ms",
                self.overload_block_timeout_ms,
                0,
            ),
            ("retry_budget_ms", self.retry_budget_ms, 0),
            ("retry_initial_delay_ms", self.retry_initial_delay_ms, 1),
            ("retry_max_delay_ms", self.retry_max_delay_ms, 1),
            ("command_timeout_ms", self.command_timeout_ms.into(), 1),
        ];
        for (name, value, least) in durations {
            if value < least {
                return breach(&format!("{name} is {value}; use {least} or more"));
            }
            if value > MAX_DURATION_MS {
                return breach(&format!(
                    "{name} is {value}; use at most {MAX_DURATION_MS} (ten years)"
                ));
            }
        }
        if self.retry_initial_delay_ms > self.retry_max_delay_ms {
            return breach("retry_initial_delay_ms is larger than retry_max_delay_ms; lower it");
        }
        Ok(())
    }

    fn check_keys(&self) -> Result<(), Error> {
        let keys = self.keys();
        let lists = [
            &keys.pending,
            &keys.processing,
            &keys.completed,
            &keys.failed,
        ];
        if let Some(key) = &self.dead_letter_queue
            && (lists.contains(&key)
                || key.starts_with(&keys.deduplication_prefix)
                || key.starts_with(&format!("{}:", keys.processing)))
        {
            return breach(&format!(
                "dead_letter_queue '{key}' is one of the queue's own keys; name another list"
            ));
        }
        if !self.cluster {
            return Ok(());
        }
        if slot::tag(keys.deduplication_prefix.as_bytes()).is_none() {
            return breach(&format!(
                "on a cluster all keys of a queue must share a slot; put a hash tag into the name, such as '{{{}}}'",
                self.name
            ));
        }
        let home = slot::slot(keys.pending.as_bytes());
        let others = lists
            .into_iter()
            .chain([&keys.dead_letters, &keys.deduplication_prefix]);
        for key in others {
            if slot::slot(key.as_bytes()) != home {
                return breach(&format!(
                    "on a cluster all keys of a queue must share a slot, and '{key}' has another one than '{}'; use one hash tag for both",
                    keys.pending
                ));
            }
        }
        Ok(())
    }
}

impl Log {
    /// The length that the log is cut to.
    pub fn cap(self) -> Option<u64> {
        match self {
            Self::Capped(length) => Some(length),
            Self::Off | Self::Unbounded => None,
        }
    }
}

fn breach(message: &str) -> Result<(), Error> {
    Err(Error::new(ErrorKind::Configuration, message))
}
