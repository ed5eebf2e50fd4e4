//! The progress line of `work`, on a terminal.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use leaseline::Progress;

/// How often the line moves.
const TICK: Duration = Duration::from_millis(100);

/// A line at the bottom of the terminal, or nothing if standard error is none.
pub(crate) fn line() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new_spinner().with_style(
        ProgressStyle::with_template("{spinner} {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner()),
    );
    bar.enable_steady_tick(TICK);
    bar
}

/// What a worker has done, in words.
pub(crate) fn summary(progress: &Progress) -> String {
    let mut words = format!("acked {}, failed {}", progress.acked, progress.failed);
    for (name, count) in [
        ("released", progress.released),
        ("stale", progress.stale),
        ("unsettled", progress.unsettled),
        ("running", progress.in_flight),
    ] {
        if count > 0 {
            words.push_str(&format!(", {name} {count}"));
        }
    }
    words
}
