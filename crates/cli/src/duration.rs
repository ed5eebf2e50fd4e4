//! Durations as they are given: seconds, with fractions.

use std::time::Duration;

/// The longest duration: ten years, as in the queue's configuration.
const MAX_SECONDS: f64 = 10.0 * 366.0 * 24.0 * 3600.0;

/// Seconds from 0 on, to the millisecond.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    parse(text)
        .ok_or_else(|| "use seconds from 0 to 316224000 (ten years), such as 1.5 or 30".into())
}

/// Seconds that are not 0, to the millisecond and at least one.
pub(crate) fn positive_seconds(text: &str) -> Result<Duration, String> {
    match parse(text) {
        Some(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("use seconds above 0 and up to 316224000 (ten years), such as 0.5 or 30".into()),
    }
}

/// A duration that was given in seconds, and so has no more than milliseconds.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn parse(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    if !(0.0..=MAX_SECONDS).contains(&seconds) {
        return None;
    }
    // Rounded, because 0.07 s are 70 ms and not 71; but what is not nothing must not become it.
    let milliseconds = (seconds * 1000.0).round();
    let least = if seconds > 0.0 { 1.0 } else { 0.0 };
    Some(Duration::from_secs_f64(milliseconds.max(least) / 1000.0))
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

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            " 1",
            "1s",
            "NaN",
            "-nan",
            "inf",
            "-inf",
            "infinity",
            "-1",
            "-0.001",
            "1e300",
            "316224001",
            "0x10",
            "1,5",
        ] {
            assert!(seconds(text).is_err(), "{text}");
            assert!(positive_seconds(text).is_err(), "{text}");
        }
        assert!(positive_seconds("0").is_err());
    }
}
