//! The rules a configuration must keep, checked in this order. A breach names its remedy.

use alloc::format;
use alloc::string::String;

use super::{Config, Log, OverloadPolicy};
use crate::error::{Error, ErrorKind};
use crate::json::MAX_DEPTH;
use crate::key::Keys;
use crate::slot;

/// The longest duration that a queue accepts: ten years. Far beyond any use, and far
/// from where a Lua number would lose a millisecond.
pub(crate) const MAX_DURATION_MS: u64 = 10 * 366 * 24 * 60 * 60 * 1000;

/// The largest count or length: beyond it a Lua number is no longer exact.
const MAX_COUNT: u64 = 1 << 53;

/// The most events that can be kept: some 20 MiB.
const MAX_EVENT_BUFFER: u32 = 65_536;

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
            max_payload_depth: None,
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

    /// Checks every rule, in the order of the original's constructors.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Configuration`] for the first breach. The message names the setting and the
    /// remedy.
    pub fn validate(&self) -> Result<(), Error> {
        self.check_names()?;
        self.check_limits()?;
        self.check_overload()?;
        self.check_dead_letters()?;
        self.check_durations()?;
        self.check_keys()?;
        self.check_slots()
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
        if is_blank(&self.name) {
            return breach("the queue name is blank; give it a name");
        }
        if self.name.contains('\0') {
            return breach("the queue name contains a NUL character; use another name");
        }
        if is_blank(&self.key_separator) {
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
        // A timeout has its own bound, among the durations.
        let timeout = self.visibility_timeout_ms.map(|timeout| timeout.min(1));
        let limits = [
            ("max_payload_bytes", self.max_payload_bytes),
            ("max_payload_depth", self.max_payload_depth.map(u64::from)),
            ("max_completed_length", self.completed.cap()),
            ("max_failed_length", self.failed.cap()),
            ("max_delivery_count", self.max_delivery_count.map(u64::from)),
            ("visibility_timeout_ms", timeout),
            ("max_pending_length", self.max_pending_length),
        ];
        for (name, limit) in limits {
            match limit {
                Some(0) => {
                    return breach(&format!("{name} is 0; use 1 or more, or leave it out"));
                }
                Some(limit) if limit > MAX_COUNT => {
                    return breach(&format!("{name} is {limit}; use at most {MAX_COUNT}"));
                }
                _ => {}
            }
        }
        if let Some(depth) = self.max_payload_depth
            && depth > MAX_DEPTH
        {
            return breach(&format!(
                "max_payload_depth is {depth}; use at most {MAX_DEPTH}, what common readers of JSON take"
            ));
        }
        if self.event_buffer > MAX_EVENT_BUFFER {
            return breach(&format!(
                "event_buffer is {}; use at most {MAX_EVENT_BUFFER}, and take events more often",
                self.event_buffer
            ));
        }
        Ok(())
    }

    /// Deduplication belongs to a message here, so `drop_oldest` meets it at publishing.
    fn check_overload(&self) -> Result<(), Error> {
        let policy = match self.overload_policy {
            OverloadPolicy::Raise => return Ok(()),
            OverloadPolicy::DropOldest => "drop_oldest",
            OverloadPolicy::Block => "block",
        };
        if self.max_pending_length.is_none() {
            return breach(&format!(
                "the overload policy {policy} needs max_pending_length; set it, or use raise"
            ));
        }
        if self.overload_policy == OverloadPolicy::DropOldest && self.max_delivery_count.is_some() {
            return breach(
                "drop_oldest removes messages that were delivered before, which a delivery limit counts on; remove max_delivery_count, or use raise or block",
            );
        }
        Ok(())
    }

    fn check_dead_letters(&self) -> Result<(), Error> {
        if self.max_delivery_count.is_some() && self.visibility_timeout_ms.is_none() {
            return breach(
                "max_delivery_count needs a visibility timeout; set one, or remove the delivery limit",
            );
        }
        match &self.dead_letter_queue {
            Some(key) if is_blank(key) => {
                breach("dead_letter_queue is blank; name a list, or leave it out")
            }
            Some(_) if self.max_delivery_count.is_none() => breach(
                "dead_letter_queue needs max_delivery_count; set it, or remove the dead-letter queue",
            ),
            _ => Ok(()),
        }
    }

    fn check_durations(&self) -> Result<(), Error> {
        let timeout = self.visibility_timeout_ms.unwrap_or(1);
        let durations = [
            ("visibility_timeout_ms", timeout, 1),
            (
                "overload_block_timeout_ms",
                self.overload_block_timeout_ms,
                0,
            ),
            ("deduplication_ttl_ms", self.deduplication_ttl_ms, 1),
            ("retry_budget_ms", self.retry_budget_ms, 0),
            ("retry_max_delay_ms", self.retry_max_delay_ms, 1),
            ("retry_initial_delay_ms", self.retry_initial_delay_ms, 1),
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
            return breach(
                "retry_initial_delay_ms is larger than retry_max_delay_ms; lower the first, or raise the second",
            );
        }
        Ok(())
    }

    /// Dead letters in one of the queue's own keys would be claimed, trimmed or in the way.
    fn check_keys(&self) -> Result<(), Error> {
        let Some(dead_letters) = &self.dead_letter_queue else {
            return Ok(());
        };
        let keys = self.keys();
        let lists = [
            &keys.pending,
            &keys.processing,
            &keys.completed,
            &keys.failed,
        ];
        let is_own = |list: &&String| {
            // Metadata and markers hang on their list behind a colon.
            let rest = dead_letters.strip_prefix(list.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        if lists.iter().any(is_own) || dead_letters.starts_with(&keys.deduplication_prefix) {
            return breach(&format!(
                "dead_letter_queue '{dead_letters}' is one of the queue's own keys; name another list"
            ));
        }
        Ok(())
    }

    fn check_slots(&self) -> Result<(), Error> {
        if !self.cluster {
            return Ok(());
        }
        let keys = self.keys();
        if !has_hash_tag(&keys.deduplication_prefix) {
            return breach(&format!(
                "on a cluster all keys of a queue must share a slot; put a hash tag into the name, such as '{{{}}}'",
                self.name.replace(['{', '}'], "")
            ));
        }
        let home = slot::slot(keys.pending.as_bytes());
        for key in [
            &keys.processing,
            &keys.completed,
            &keys.failed,
            &keys.deduplication_prefix,
            &keys.dead_letters,
        ] {
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

/// Whether there is nothing to see in it, by the rules of Python's `str.strip`: four separators that
/// Unicode does not count as white space are blank too.
fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c))
}

/// Whether a brace pair has something between it that is no brace, as the original asks for.
fn has_hash_tag(key: &str) -> bool {
    let after_open = key.split('{').skip(1);
    let mut tags = after_open.filter_map(|rest| rest.split_once('}'));
    tags.any(|(tag, _)| !tag.is_empty())
}

fn breach(message: &str) -> Result<(), Error> {
    Err(Error::new(ErrorKind::Configuration, message))
}
