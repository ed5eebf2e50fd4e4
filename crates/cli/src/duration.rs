//! Durations as they are given: seconds, with fractions.

use std::time::Duration;

use leaseline::duration::{DurationError, DurationRule, setting_ms};

/// The longest duration in seconds: ten years, as in the queue's configuration.
const LONGEST: u64 = 10 * 366 * 24 * 3600;

/// Seconds from 0 on, to the millisecond.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| usage())?;
    match setting_ms(seconds, LONGEST, "it") {
        Ok(milliseconds) => Ok(Duration::from_millis(milliseconds)),
        Err(error) => Err(error.to_string()),
    }
}

/// Seconds that are not 0, to the millisecond and at least one.
pub(crate) fn positive_seconds(text: &str) -> Result<Duration, String> {
    let duration = seconds(text)?;
    if duration.is_zero() {
        let error = DurationError {
            rule: DurationRule::Zero,
            name: "it",
            longest: LONGEST,
        };
        return Err(error.to_string());
    }
    Ok(duration)
}

/// A duration that was given in seconds, and so has no more than milliseconds.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn usage() -> String {
    format!("it must be a number; give seconds up to {LONGEST}, such as 1.5 or 30")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_fractions() {
        for (text, milliseconds) in [
            ("0", 0),
            ("-0", 0),
            ("0.07", 70),
            ("0.3", 300),
            ("1e1", 10_000),
            (".5", 500),
            ("0.0000001", 1),
            ("316224000", 316_224_000_000),
        ] {
            assert_eq!(
                seconds(text).map(|d| d.as_millis()),
                Ok(milliseconds),
                "{text}"
            );
        }
    }

    /// The bad rows of the rule for durations, in its order, and what is no number.
    #[test]
    fn nonsense_is_refused() {
        for (text, want) in [
            ("", "a number"),
            (" 1", "a number"),
            ("1s", "a number"),
            ("0x10", "a number"),
            ("1,5", "a number"),
            ("NaN", "finite"),
            ("-nan", "finite"),
            ("inf", "finite"),
            ("-inf", "finite"),
            ("infinity", "finite"),
            ("-1", "non-negative"),
            ("-0.001", "non-negative"),
            ("1e300", "316224000"),
            ("316224001", "cannot exceed 316224000 seconds"),
        ] {
            for refused in [seconds(text), positive_seconds(text)] {
                let message = refused.expect_err(text);
                assert!(message.contains(want), "{text}: {message}");
                assert!(
                    message.contains("give seconds up to 316224000"),
                    "{message}"
                );
            }
        }
        assert!(positive_seconds("0").expect_err("zero").contains("above 0"));
    }
}
