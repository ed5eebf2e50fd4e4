//! The one rule for durations (spec §3).

use core::fmt;

use super::Settings;
use crate::error::{Error, ErrorKind};

/// Which part of the rule a duration breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DurationRule {
    /// It is NaN or infinite.
    NotFinite,
    /// It is below zero.
    Negative,
    /// It is above the longest visibility.
    TooLong,
    /// It is between zero and one second.
    BelowOneSecond,
    /// It is zero, and there is nothing to renew.
    NotPositive,
    /// It is zero, and a setting that has no meaning then.
    Zero,
}

/// A duration that breaks the rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurationError<'a> {
    /// Which part of the rule.
    pub rule: DurationRule,
    /// The duration's name in the message.
    pub name: &'a str,
    /// The longest one in seconds.
    pub longest: u64,
}

impl fmt::Display for DurationError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, longest, .. } = self;
        match self.rule {
            DurationRule::NotFinite => write!(f, "{name} must be finite"),
            DurationRule::Negative => write!(f, "{name} must be non-negative"),
            DurationRule::TooLong => write!(f, "{name} cannot exceed {longest} seconds"),
            DurationRule::BelowOneSecond => {
                write!(f, "{name} must be at least 1 second or exactly 0")
            }
            DurationRule::NotPositive => {
                write!(f, "{name} must be positive for automatic renewal")
            }
            DurationRule::Zero => write!(f, "{name} must be above 0"),
        }?;
        write!(f, "; give seconds up to {longest}")
    }
}

impl core::error::Error for DurationError<'_> {}

impl From<DurationError<'_>> for Error {
    fn from(error: DurationError<'_>) -> Self {
        use alloc::string::ToString;
        Self::new(ErrorKind::InvalidArgument, error.to_string())
    }
}

/// What every duration must be: finite, not negative, and no longer than `longest` seconds.
fn bounded(seconds: f64, longest: u64) -> Result<(), DurationRule> {
    if !seconds.is_finite() {
        Err(DurationRule::NotFinite)
    } else if seconds < 0.0 {
        Err(DurationRule::Negative)
    } else if seconds > longest as f64 {
        Err(DurationRule::TooLong)
    } else {
        Ok(())
    }
}

/// Milliseconds of a setting of a queue that is given in seconds: a visibility timeout, a heartbeat, a
/// delay. The checks are those of [`visibility_seconds`] in their order, but a queue counts in
/// milliseconds and has bounds of its own: fractions are rounded to one, what is not zero does not
/// become zero, and zero is for the caller to refuse.
///
/// # Errors
///
/// [`DurationRule::NotFinite`], [`DurationRule::Negative`] or [`DurationRule::TooLong`], the first that
/// holds.
pub fn setting_ms(seconds: f64, longest: u64, name: &str) -> Result<u64, DurationError<'_>> {
    let error = |rule| DurationError {
        rule,
        name,
        longest,
    };
    bounded(seconds, longest).map_err(error)?;
    let milliseconds = (seconds * 1_000.0 + 0.5) as u64;
    Ok(if seconds > 0.0 {
        milliseconds.max(1)
    } else {
        0
    })
}

/// Seconds for which a message stays invisible, as a whole number of them: fractions beyond the
/// first second are cut. 0 makes it visible.
///
/// # Errors
///
/// Of several breaches the first in the order of [`DurationRule`].
pub fn visibility_seconds<'a>(
    settings: &Settings,
    seconds: f64,
    name: &'a str,
) -> Result<u64, DurationError<'a>> {
    let longest = settings.max_lease_ms / 1_000;
    let rule = match bounded(seconds, longest) {
        Err(rule) => rule,
        Ok(()) if seconds > 0.0 && seconds < 1.0 => DurationRule::BelowOneSecond,
        Ok(()) => return Ok(seconds as u64),
    };
    Err(DurationError {
        rule,
        name,
        longest,
    })
}

/// Seconds of a lease that is renewed: [`visibility_seconds`], not zero, and lengthened to the
/// shortest lease. None is the default. Applied to its own result it changes nothing.
///
/// # Errors
///
/// As [`visibility_seconds`], and [`DurationRule::NotPositive`] for zero.
pub fn lease_seconds<'a>(
    settings: &Settings,
    seconds: Option<f64>,
    name: &'a str,
) -> Result<u64, DurationError<'a>> {
    let Some(seconds) = seconds else {
        return Ok(settings.default_lease_ms / 1_000);
    };
    match visibility_seconds(settings, seconds, name)? {
        0 => Err(DurationError {
            rule: DurationRule::NotPositive,
            name,
            longest: settings.max_lease_ms / 1_000,
        }),
        seconds => Ok(seconds.max(settings.min_lease_ms.div_ceil(1_000))),
    }
}

/// Seconds until a message is tried again. The original checks these by a weaker rule of their own
/// and lets delays through that it cannot apply; here it is [`visibility_seconds`] too.
///
/// # Errors
///
/// As [`visibility_seconds`].
pub fn retry_seconds<'a>(
    settings: &Settings,
    seconds: Option<f64>,
    name: &'a str,
) -> Result<u64, DurationError<'a>> {
    match seconds {
        Some(seconds) => visibility_seconds(settings, seconds, name),
        None => Ok(settings.default_retry_after_ms / 1_000),
    }
}
