//! Spans of time that matter: those around the ends of leases and windows.

use super::settings::Settings;

/// The names of the moments, as a case's text has them; a field holds the index.
pub const MOMENTS: &[&str] = &[
    "0",
    "1",
    "lease-1",
    "lease",
    "lease+1",
    "half-lease",
    "timeout",
    "second",
    "window-1",
    "window",
    "window+1",
];

/// Which fields hold moments.
pub(crate) fn is_moment(field: &str) -> bool {
    ["by", "wait", "delay", "ahead", "behind"].contains(&field)
}

/// A moment in milliseconds.
pub(crate) fn ms(settings: &Settings, moment: u32) -> u64 {
    let lease = settings.lease_or_default_ms();
    let window = u64::from(settings.window_ms);
    match MOMENTS[moment as usize % MOMENTS.len()] {
        "0" => 0,
        "1" => 1,
        "lease-1" => lease - 1,
        "lease" => lease,
        "lease+1" => lease + 1,
        "half-lease" => lease / 2,
        "timeout" => settings.timeout_ms.into(),
        "second" => 1000,
        "window-1" => window - 1,
        "window" => window,
        _ => window + 1,
    }
}
