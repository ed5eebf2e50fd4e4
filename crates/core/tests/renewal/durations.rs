use leaseline_core::renewal::{
    DurationRule, Settings, lease_seconds, retry_seconds, setting_ms, visibility_seconds,
};
use leaseline_core::{Error, ErrorKind};
use proptest::prelude::*;

fn visibility(seconds: f64) -> Result<u64, DurationRule> {
    visibility_seconds(&Settings::default(), seconds, "duration").map_err(|error| error.rule)
}

fn lease(seconds: Option<f64>) -> Result<u64, DurationRule> {
    lease_seconds(&Settings::default(), seconds, "lease_duration").map_err(|error| error.rule)
}

/// Every row of §3.1.
#[test]
fn rows_of_the_rule() {
    use DurationRule::{BelowOneSecond, Negative, NotFinite, TooLong};
    for (seconds, want) in [
        (0.0, Ok(0)),
        (-0.0, Ok(0)),
        (0.5, Err(BelowOneSecond)),
        (0.999, Err(BelowOneSecond)),
        (f64::MIN_POSITIVE, Err(BelowOneSecond)),
        (1.0, Ok(1)),
        (1.5, Ok(1)),
        (1.9, Ok(1)),
        (29.0, Ok(29)),
        (30.0, Ok(30)),
        (3600.0, Ok(3600)),
        (3600.0001, Err(TooLong)),
        (3600.9, Err(TooLong)),
        (3601.0, Err(TooLong)),
        (f64::MAX, Err(TooLong)),
        (-1.0, Err(Negative)),
        (-0.5, Err(Negative)),
        (f64::NAN, Err(NotFinite)),
        (f64::INFINITY, Err(NotFinite)),
        (f64::NEG_INFINITY, Err(NotFinite)),
    ] {
        assert_eq!(visibility(seconds), want, "{seconds}");
        // The weaker rule of the original for retries is not ours.
        let retry = retry_seconds(&Settings::default(), Some(seconds), "delay");
        assert_eq!(retry.map_err(|error| error.rule), want, "{seconds}");
    }
}

/// The queue's settings: the same checks, in milliseconds and with other bounds.
#[test]
fn rows_of_the_rule_for_settings_of_a_queue() {
    use DurationRule::{Negative, NotFinite, TooLong};
    const LONGEST: u64 = 316_224_000;
    for (seconds, want) in [
        (0.0, Ok(0)),
        (-0.0, Ok(0)),
        (f64::MIN_POSITIVE, Ok(1)),
        (0.0004, Ok(1)),
        (0.07, Ok(70)),
        (0.5, Ok(500)),
        (0.999, Ok(999)),
        (1.9, Ok(1_900)),
        (29.0, Ok(29_000)),
        (3600.0001, Ok(3_600_000)),
        (3601.0, Ok(3_601_000)),
        (316_224_000.0, Ok(316_224_000_000)),
        (316_224_000.1, Err(TooLong)),
        (f64::MAX, Err(TooLong)),
        (-1.0, Err(Negative)),
        (-0.5, Err(Negative)),
        (f64::NAN, Err(NotFinite)),
        (f64::INFINITY, Err(NotFinite)),
        (f64::NEG_INFINITY, Err(NotFinite)),
    ] {
        let given = setting_ms(seconds, LONGEST, "visibility_timeout");
        assert_eq!(given.map_err(|error| error.rule), want, "{seconds}");
        if let Err(error) = setting_ms(seconds, LONGEST, "visibility_timeout") {
            assert_eq!(Error::from(error).kind, ErrorKind::InvalidArgument);
        }
    }
}

#[test]
fn rows_of_the_rule_for_leases() {
    for (seconds, want) in [
        (None, Ok(300)),
        (Some(0.0), Err(DurationRule::NotPositive)),
        (Some(0.5), Err(DurationRule::BelowOneSecond)),
        (Some(1.0), Ok(30)),
        (Some(29.9), Ok(30)),
        (Some(30.0), Ok(30)),
        (Some(31.7), Ok(31)),
        (Some(3600.0), Ok(3600)),
        (Some(3601.0), Err(DurationRule::TooLong)),
    ] {
        assert_eq!(lease(seconds), want, "{seconds:?}");
    }
    assert_eq!(
        retry_seconds(&Settings::default(), None, "delay"),
        Ok(60),
        "the default"
    );
}

#[test]
fn texts_and_kind() {
    for (seconds, text) in [
        (f64::NAN, "lease_duration must be finite"),
        (-1.0, "lease_duration must be non-negative"),
        (3601.0, "lease_duration cannot exceed 3600 seconds"),
        (0.5, "lease_duration must be at least 1 second or exactly 0"),
        (0.0, "lease_duration must be positive for automatic renewal"),
    ] {
        let settings = Settings::default();
        let error: Error = lease_seconds(&settings, Some(seconds), "lease_duration")
            .unwrap_err()
            .into();
        assert_eq!(error.kind, ErrorKind::InvalidArgument);
        assert!(error.message.starts_with(text), "{}", error.message);
    }
}

proptest! {
    #[test]
    fn invariant_43_a_visibility_is_the_whole_seconds_or_an_error(
        seconds in prop_oneof![any::<f64>(), -2.0..3700.0, 0.0..1.0],
    ) {
        match visibility(seconds) {
            Ok(whole) => {
                prop_assert!(whole <= 3600);
                prop_assert!(whole as f64 <= seconds.abs() && seconds < whole as f64 + 1.0);
            }
            Err(_) => prop_assert!(!(seconds == 0.0 || (1.0..=3600.0).contains(&seconds))),
        }
        if seconds > 0.0 && seconds < 1.0 {
            prop_assert_eq!(visibility(seconds), Err(DurationRule::BelowOneSecond));
        }
    }

    #[test]
    fn invariant_44_a_lease_is_within_its_bounds_and_stays(seconds in -2.0..3700.0) {
        if let Ok(whole) = lease(Some(seconds)) {
            prop_assert!((30..=3600).contains(&whole));
            prop_assert_eq!(lease(Some(whole as f64)), Ok(whole));
            if let Ok(visible) = visibility(seconds) && visible >= 30 {
                prop_assert_eq!(whole, visible);
            }
        }
    }
}
