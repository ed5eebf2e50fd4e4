//! When renewals are due: invariants 26 to 31.

use leaseline_core::renewal::{
    Action, Failure, First, Lost, Settings, Start, Started, Table, Token,
};
use proptest::prelude::*;

use crate::history::{Event, history, tokens};
use crate::outcomes::passing;
use crate::play::{Play, Step, steps};

const TOKEN: Token = Token(1);

fn start(lease_ms: u64, first: First) -> Start {
    Start {
        token: TOKEN,
        lease_ms,
        interval_ms: None,
        first,
        align_ms: 0,
        longest_ms: None,
    }
}

fn table() -> Table {
    Table::new(Settings::default(), 0)
}

#[test]
fn intervals_of_the_original() {
    let settings = Settings::default();
    for (lease_s, interval_ms) in [
        (30, 10_000),
        (50, 10_000),
        (51, 10_200),
        (60, 12_000),
        (100, 20_000),
        (299, 59_800),
        (300, 60_000),
        (3_600, 60_000),
    ] {
        assert_eq!(settings.interval_ms(lease_s * 1_000), interval_ms);
    }
}

#[test]
fn retry_delays_of_the_original() {
    for (lease_s, hint_s, delay_s) in [
        (30, Some(0), 1),
        (30, Some(5), 5),
        (30, Some(11), 10),
        (30, Some(999), 10),
        (300, Some(11), 11),
        (300, Some(61), 60),
        (300, None, 3),
    ] {
        let mut table = table();
        table.start(0, &start(lease_s * 1_000, First::EndsIn(0)));
        table.poll(10, 1);
        let hint = hint_s.map(|hint: u64| hint * 1_000);
        table.finished(100, TOKEN, Err(Failure::Throttled(hint)));
        assert_eq!(table.next_due_ms(), Some(100 + delay_s * 1_000));
    }
}

proptest! {
    #[test]
    fn invariant_26_intervals_are_bounded_and_do_not_decrease(seconds in 30..=3_600_u64) {
        let settings = Settings::default();
        let interval = settings.interval_ms(seconds * 1_000);
        prop_assert!((10_000..=60_000).contains(&interval));
        prop_assert!(interval <= seconds * 1_000 / 3);
        prop_assert!(interval <= settings.interval_ms(seconds * 1_000 + 1_000));
    }

    #[test]
    fn invariant_27_the_first_request_is_in_time(
        seconds in 30..=3_600_u64,
        left in 0..4_000_000_u64,
        now in 0..1_000_000_u64,
    ) {
        let mut with = table();
        with.start(now, &start(seconds * 1_000, First::EndsIn(left)));
        let want = (now + left.saturating_sub(10_000)).max(now + 10);
        prop_assert_eq!(with.next_due_ms(), Some(want));
        let mut without = table();
        without.start(now, &start(seconds * 1_000, First::Granted(seconds * 1_000)));
        prop_assert_eq!(without.next_due_ms(), Some(now + with.settings().interval_ms(seconds * 1_000)));
    }

    /// Poll mode of the original gets five seconds and renews after ten.
    #[test]
    fn hazard_3_a_lease_shorter_than_its_first_renewal_is_renewed_in_time(granted in 30..30_000_u64) {
        let mut table = table();
        table.start(0, &start(30_000, First::Granted(granted)));
        prop_assert!(table.next_due_ms().unwrap() <= granted / 2);
    }

    #[test]
    fn invariant_28_a_request_follows_the_end_of_the_last_by_the_interval(
        seconds in 30..=3_600_u64,
        durations in prop::collection::vec(0..9_000_u64, 1..30),
    ) {
        let mut table = table();
        let lease_ms = seconds * 1_000;
        let interval = table.settings().interval_ms(lease_ms);
        table.start(0, &start(lease_ms, First::Granted(lease_ms)));
        let mut due = interval;
        for duration in durations {
            prop_assert_eq!(table.next_due_ms(), Some(due));
            prop_assert_eq!(table.poll(due - 1, 9), []);
            prop_assert_eq!(table.poll(due, 9).len(), 1);
            table.finished(due + duration, TOKEN, Ok(()));
            due += duration + interval;
        }
    }

    /// Also after failures, however late, and while others come and go.
    #[test]
    fn invariant_29_each_request_asks_for_the_whole_lease(history in history()) {
        for token in tokens() {
            let mut lease = None;
            for moment in &history {
                match moment.event {
                    Event::Start(of, lease_ms, Started::Scheduled) if of == token => lease = Some(lease_ms),
                    Event::Extend(of, lease_ms) if of == token => prop_assert_eq!(lease, Some(lease_ms)),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn invariant_30_the_delay_after_a_failure_is_three_seconds_or_the_hint(
        seconds in 30..=3_600_u64,
        failures in prop::collection::vec(passing(), 1..50),
    ) {
        let mut table = table();
        let lease_ms = seconds * 1_000;
        let interval = table.settings().interval_ms(lease_ms);
        table.start(0, &start(lease_ms, First::Granted(lease_ms)));
        let mut due = interval;
        for failure in failures {
            prop_assert_eq!(table.poll(due, 9).len(), 1);
            prop_assert_eq!(table.finished(due + 5, TOKEN, Err(failure)), None);
            let delay = match failure {
                Failure::Throttled(Some(hint)) => hint.max(1_000).min(interval),
                _ => 3_000,
            };
            prop_assert!(delay <= interval);
            due += 5 + delay;
            prop_assert_eq!(table.next_due_ms(), Some(due));
        }
    }

    /// The table is told no other time than the host's, and only differences count.
    #[test]
    fn invariant_31_only_differences_of_time_count(offset in 0..1_u64 << 40, steps in steps()) {
        let (mut here, mut there) = (Play::new(), Play::new());
        there.step(Step::Pass(offset));
        for step in steps {
            here.step(step.clone());
            there.step(step);
        }
        for (here, there) in here.moments.iter().zip(&there.moments) {
            prop_assert_eq!(&here.event, &there.event);
            prop_assert_eq!(here.next_due_ms.map(|due| due + offset), there.next_due_ms);
        }
    }

    #[test]
    fn hazard_11_the_longest_time_bounds_every_lease(
        seconds in 30..=300_u64,
        longest in 1..1_000_000_u64,
        outcomes in prop::collection::vec(any::<bool>(), 400),
    ) {
        let mut table = table();
        let mut begun = start(seconds * 1_000, First::Granted(seconds * 1_000));
        begun.longest_ms = Some(longest);
        table.start(0, &begun);
        for extended in outcomes {
            let now = table.next_due_ms().unwrap();
            match table.poll(now, 1)[..] {
                [Action::Extend { lease_ms, .. }] => {
                    prop_assert!(now + lease_ms <= longest);
                    let outcome = if extended { Ok(()) } else { Err(Failure::Transient) };
                    table.finished(now, TOKEN, outcome);
                }
                [Action::Lost { why: Lost::LongestTime, .. }] => {
                    prop_assert_eq!(now, longest);
                    prop_assert!(!table.is_active(TOKEN));
                    prop_assert_eq!(table.next_due_ms(), None);
                    return Ok(());
                }
                ref other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert!(false, "it goes on for ever");
    }

    #[test]
    fn jitter_brings_renewals_forward_within_its_bound(percent in 1..=50_u8, seed in any::<u64>()) {
        let mut settings = Settings::default();
        settings.jitter_percent = percent;
        let mut table = Table::new(settings, seed);
        for token in 0..50 {
            let mut begun = start(300_000, First::Granted(300_000));
            begun.token = Token(token);
            table.start(0, &begun);
        }
        let first = table.next_due_ms().unwrap();
        prop_assert!(first < 60_000 && first >= 60_000 - 600 * u64::from(percent));
    }

    #[test]
    fn aligned_renewals_are_due_together_and_never_late(
        starts in prop::collection::vec(0..1_000_000_u64, 2..50),
        align_ms in 2..10_000_u64,
    ) {
        for now in starts {
            let mut table = table();
            let mut begun = start(300_000, First::Granted(300_000));
            begun.align_ms = align_ms;
            table.start(now, &begun);
            let due = table.next_due_ms().unwrap();
            prop_assert_eq!(due % align_ms, 0);
            prop_assert!(due <= now + 60_000 && due > now + 60_000 - align_ms);
        }
    }
}
