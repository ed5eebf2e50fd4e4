//! Each command has the same answer.

use leaseline_core::ErrorKind;
use leaseline_core::renewal::{
    self, Action, DurationError, Failure, First, Outcome, Settings, Start, Token,
};
use leaseline_renewal::Schedule;
use leaseline_wasmtime::bindings::exports::leaseline::queue::queue::{Error, ErrorKind as Kind};

use crate::component::{ComponentTable, instance, settings};

fn outcome(kind: u64) -> Outcome {
    match kind {
        0 => Err(Failure::Gone),
        1 => Err(Failure::Refused),
        2 => Err(Failure::Throttled(Some(4_000))),
        3 => Err(Failure::Throttled(None)),
        4 => Err(Failure::Connection),
        5 => Err(Failure::Transient),
        6 => Err(Failure::Unexpected),
        _ => Ok(()),
    }
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

#[test]
fn random_commands_have_the_same_answers() {
    let mut there = ComponentTable::open(&Settings::default(), 7);
    let mut here = renewal::Table::new(Settings::default(), 7);
    let (mut dice, mut now, mut extensions, mut losses) = (Dice(0x5eed), 0, 0, 0);
    for _ in 0..3_000 {
        let token = Token(dice.below(20));
        match dice.below(8) {
            0 | 1 => {
                let lease_ms = 30_000 + dice.below(400_000);
                let start = Start {
                    token,
                    lease_ms,
                    interval_ms: None,
                    first: First::Granted(lease_ms),
                    align_ms: dice.below(3) * 500,
                    longest_ms: (dice.below(4) == 0).then(|| dice.below(200_000)),
                };
                assert_eq!(there.start(now, &start), here.start(now, &start));
            }
            2 => {
                let wait = dice.below(2) == 0;
                assert_eq!(there.stop(now, token, wait), here.stop(now, token, wait));
            }
            3 | 4 => {
                let actions = there.poll(now, 3);
                assert_eq!(actions, here.poll(now, 3));
                let extend = |action: &&Action| matches!(action, Action::Extend { .. });
                extensions += actions.iter().filter(extend).count();
            }
            5 | 6 => {
                let outcome = outcome(dice.below(12));
                let ended = there.finished(now, token, outcome);
                assert_eq!(ended, here.finished(now, token, outcome));
                losses += usize::from(matches!(ended, Some(Action::Lost { .. })));
            }
            _ if dice.below(20) == 0 => assert_eq!(there.recover(now), here.recover(now)),
            _ => now += dice.below(20_000),
        }
        assert_eq!(there.next_due_ms(), here.next_due_ms());
        assert_eq!(there.counts(), *here.counts());
    }
    assert!(extensions > 100 && losses > 5, "{extensions}, {losses}");
}

/// Each bad row of the specification (§3), and some good ones.
#[tokio::test]
async fn durations_have_the_same_rule_and_error() {
    let (mut store, instance) = instance().await;
    let interface = instance.leaseline_queue_renewal();
    let given = interface.call_default_settings(&mut store).await.unwrap();
    let native = Settings::default();
    let same = |there: Result<u64, Error>, here: Result<u64, DurationError<'_>>, seconds: f64| {
        let there = there.map_err(|error| {
            assert_eq!(error.kind, Kind::InvalidArgument, "{seconds}");
            error.message
        });
        let here = here.map_err(|error| {
            let error = leaseline_core::Error::from(error);
            assert_eq!(error.kind, ErrorKind::InvalidArgument, "{seconds}");
            error.message
        });
        assert_eq!(there, here, "{seconds}");
        here.is_err()
    };
    let mut refused = 0;
    for seconds in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1.0,
        -0.5,
        -0.0,
        0.0,
        0.5,
        0.999,
        f64::MIN_POSITIVE,
        1.0,
        1.9,
        29.0,
        30.0,
        3600.0,
        3600.0001,
        3600.9,
        3601.0,
        f64::MAX,
    ] {
        let there = interface.call_visibility_seconds(&mut store, given, seconds);
        let here = renewal::visibility_seconds(&native, seconds, "duration");
        refused += u32::from(same(there.await.unwrap(), here, seconds));
        let there = interface.call_lease_seconds(&mut store, given, Some(seconds));
        let here = renewal::lease_seconds(&native, Some(seconds), "lease_duration");
        refused += u32::from(same(there.await.unwrap(), here, seconds));
        let there = interface.call_retry_seconds(&mut store, given, Some(seconds));
        let here = renewal::retry_seconds(&native, Some(seconds), "delay");
        refused += u32::from(same(there.await.unwrap(), here, seconds));
    }
    // Twelve of them by each rule, and 0 and -0 for leases.
    assert_eq!(refused, 3 * 12 + 2);
    let defaults = (
        interface
            .call_lease_seconds(&mut store, given, None)
            .await
            .unwrap()
            .unwrap(),
        interface
            .call_retry_seconds(&mut store, given, None)
            .await
            .unwrap()
            .unwrap(),
    );
    assert_eq!(defaults, (300, 60));
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused() {
    let (mut store, instance) = instance().await;
    let interface = instance.leaseline_queue_renewal();
    let mut wrong = settings(&Settings::default());
    wrong.min_interval_ms = 0;
    let opened = interface.table().call_open(&mut store, wrong, 7).await;
    let error = opened.unwrap().unwrap_err();
    assert_eq!(error.kind, Kind::Configuration);
    assert!(error.message.contains("min_interval_ms is 0"));
}
