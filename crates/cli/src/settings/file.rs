//! The configuration file: TOML, one key for each setting.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toml::Value;

use super::publishing::Policy;
use crate::duration::{positive_seconds, seconds};
use crate::failure::Failure;
use crate::lines::open_file;
use crate::target::EngineName;

/// Far more than all settings need.
const MAX_BYTES: u64 = 1 << 20;

/// The settings of a configuration file. Durations are seconds, with fractions.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) redis: Option<String>,
    pub(crate) tls_ca: Option<PathBuf>,
    pub(crate) queue: Option<String>,
    pub(crate) engine: Option<EngineName>,
    pub(crate) component: Option<PathBuf>,

    pub(super) key_separator: Option<String>,
    pub(super) dead_letter_queue: Option<String>,
    pub(super) strict_envelope_decoding: Option<bool>,
    #[serde(deserialize_with = "duration")]
    pub(super) retry_budget: Option<Duration>,
    #[serde(deserialize_with = "positive_duration")]
    pub(super) retry_initial_delay: Option<Duration>,
    #[serde(deserialize_with = "positive_duration")]
    pub(super) retry_max_delay: Option<Duration>,
    #[serde(deserialize_with = "positive_duration")]
    pub(super) command_timeout: Option<Duration>,

    #[serde(deserialize_with = "positive_duration")]
    pub(crate) visibility_timeout: Option<Duration>,
    pub(super) no_lease: Option<bool>,
    #[serde(
        alias = "max_delivery_count",
        deserialize_with = "count::<_, _, 0, { u32::MAX as u64 }>"
    )]
    pub(super) max_deliveries: Option<u32>,
    #[serde(deserialize_with = "positive_duration")]
    pub(super) heartbeat: Option<Duration>,
    #[serde(deserialize_with = "positive_duration")]
    pub(super) max_lease_time: Option<Duration>,
    #[serde(deserialize_with = "count::<_, _, 1, 1024>")]
    pub(crate) concurrency: Option<u16>,
    #[serde(deserialize_with = "duration")]
    pub(crate) retry_delay: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub(crate) drain_timeout: Option<Duration>,

    #[serde(deserialize_with = "count::<_, _, 0, MAX_COUNT>")]
    pub(super) max_completed_length: Option<u64>,
    #[serde(deserialize_with = "count::<_, _, 0, MAX_COUNT>")]
    pub(super) max_failed_length: Option<u64>,

    #[serde(deserialize_with = "positive_duration")]
    pub(super) dedup_ttl: Option<Duration>,
    #[serde(deserialize_with = "count::<_, _, 1, 10_000>")]
    pub(super) batch: Option<u32>,
    #[serde(deserialize_with = "count::<_, _, 1, MAX_COUNT>")]
    pub(super) max_payload_bytes: Option<u64>,
    #[serde(deserialize_with = "count::<_, _, 1, 100>")]
    pub(super) max_payload_depth: Option<u32>,
    #[serde(deserialize_with = "count::<_, _, 1, MAX_COUNT>")]
    pub(super) max_pending_length: Option<u64>,
    pub(super) pending_overload_policy: Option<Policy>,
    #[serde(deserialize_with = "duration")]
    pub(super) pending_overload_block_timeout: Option<Duration>,
}

/// The largest count that the queue accepts.
const MAX_COUNT: u64 = 1 << 53;

impl File {
    /// Reads a file. No file has no settings.
    pub(crate) fn read(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            return Ok(Self::default());
        };
        let refuse = |reason: String| {
            Failure::usage(format!(
                "cannot use the configuration file {}: {reason}",
                path.display()
            ))
        };
        let text = read(path).map_err(|error| refuse(format!("{error}; correct --config")))?;
        Self::parse(&text).map_err(refuse)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let settings =
            toml::Deserializer::parse(text).map_err(|error| place(text, &error, "not TOML, "))?;
        serde_path_to_error::deserialize(settings).map_err(|error| {
            let path = error.path().to_string();
            let reason = error.into_inner();
            match reason.message() {
                // It names the key, and those that there are.
                message if message.starts_with("unknown field") => place(text, &reason, ""),
                _ => place(text, &reason, &format!("{path}: ")),
            }
        })
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_file(path)?
        .take(MAX_BYTES + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(text)
}

/// What is wrong, and in which line. The line itself is not shown: it may have a password.
fn place(text: &str, error: &toml::de::Error, what: &str) -> String {
    let reason = error.message();
    match error.span() {
        Some(span) => {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            format!("line {line}: {what}{reason}; correct it")
        }
        None => format!("{what}{reason}; correct it"),
    }
}

/// Seconds from 0 on.
fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    number(deserializer, seconds)
}

/// Seconds above 0.
fn positive_duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    number(deserializer, positive_seconds)
}

/// A whole number in a range.
fn count<'de, D: Deserializer<'de>, T: TryFrom<u64>, const LEAST: u64, const MOST: u64>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    number(deserializer, |text| {
        let count = text.parse().ok();
        count
            .filter(|count| (LEAST..=MOST).contains(count))
            .and_then(|count| T::try_from(count).ok())
            .ok_or_else(|| format!("use a whole number from {LEAST} to {MOST}"))
    })
}

/// A number that `parse` accepts, as it does on the command line.
fn number<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, D::Error> {
    let text = match Value::deserialize(deserializer)? {
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        other => {
            return Err(D::Error::custom(format_args!(
                "a {} stands where a number is expected",
                other.type_str()
            )));
        }
    };
    parse(&text)
        .map(Some)
        .map_err(|remedy| D::Error::custom(format_args!("{text} is out of range, {remedy}")))
}
