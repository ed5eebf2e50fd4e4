//! What an owner may do: invariants 1 to 10.

use leaseline_core::renewal::{Handle, HandleError, Started, StopStep, Token};
use proptest::prelude::*;

use crate::history::{Event, history};

#[derive(Clone, Copy, Debug)]
enum Step {
    Start,
    Started,
    NotStarted,
    Stop,
    Stopped,
    NotStopped,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    use Step::*;
    let step = prop::sample::select(vec![Start, Started, NotStarted, Stop, Stopped, NotStopped]);
    prop::collection::vec(step, 0..40)
}

proptest! {
    /// Whatever happens in between, also with calls that overlap.
    #[test]
    fn invariant_01_at_most_one_start_is_registered(steps in steps()) {
        let mut handle = Handle::default();
        let (mut registered, mut pending, mut stops) = (0, false, 0_u64);
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Step::Start => match handle.start(Token(at as u64)) {
                    Ok(()) => {
                        prop_assert_eq!(registered, 0);
                        pending = true;
                    }
                    Err(error) => {
                        if registered > 0 {
                            prop_assert_eq!(error, HandleError::SingleUse);
                        }
                    }
                },
                Step::Started if pending => {
                    handle.started();
                    pending = false;
                    registered += 1;
                }
                Step::NotStarted if pending => {
                    handle.not_started();
                    pending = false;
                }
                Step::Stop => {
                    if let StopStep::Send(_) = handle.stop() {
                        stops += 1;
                    }
                }
                Step::Stopped if stops > 0 => handle.stopped(),
                Step::NotStopped => handle.not_stopped(),
                _ => {}
            }
        }
        prop_assert!(registered <= 1);
    }

    #[test]
    fn invariant_02_a_start_after_a_stop_is_refused(stops in 1..5) {
        let mut handle = Handle::default();
        for _ in 0..stops {
            prop_assert_eq!(handle.stop(), StopStep::Nothing);
        }
        prop_assert_eq!(handle.start(Token(1)), Err(HandleError::Closed));
    }

    /// A handle of the original whose message has no receipt never starts; one of ours cannot be made
    /// without a lease, and sends nothing as long as it was not started.
    #[test]
    fn invariant_03_a_handle_that_is_not_started_sends_nothing(steps in steps()) {
        let mut handle = Handle::default();
        for step in steps {
            match step {
                Step::Stop => prop_assert_eq!(handle.stop(), StopStep::Nothing),
                Step::Started => handle.started(),
                Step::NotStarted => handle.not_started(),
                Step::Stopped => handle.stopped(),
                Step::NotStopped => handle.not_stopped(),
                Step::Start => {}
            }
            prop_assert_eq!(handle.token(), None);
        }
    }

    #[test]
    fn invariant_04_any_number_of_stops_sends_one(stops in 1..20_usize, running in any::<bool>()) {
        let mut handle = Handle::default();
        if running {
            handle.start(Token(1)).unwrap();
            handle.started();
        }
        let mut sent = 0;
        for _ in 0..stops {
            match handle.stop() {
                StopStep::Send(_) => { sent += 1; handle.stopped(); }
                step => prop_assert_eq!(step, StopStep::Nothing),
            }
        }
        prop_assert_eq!(sent, usize::from(running));
    }

    /// The original returns at once; ours has the caller wait for the stop that is on its way.
    #[test]
    fn invariant_05_a_stop_during_another_sends_nothing(others in 1..20) {
        let mut handle = Handle::default();
        handle.start(Token(7)).unwrap();
        handle.started();
        prop_assert_eq!(handle.stop(), StopStep::Send(Token(7)));
        for _ in 0..others {
            prop_assert_eq!(handle.stop(), StopStep::Join(Token(7)));
        }
    }

    #[test]
    fn invariant_06_a_stop_that_was_not_sent_can_be_tried_again(failures in 0..9) {
        let mut handle = Handle::default();
        handle.start(Token(7)).unwrap();
        handle.started();
        for _ in 0..failures {
            prop_assert_eq!(handle.stop(), StopStep::Send(Token(7)));
            handle.not_stopped();
            prop_assert_eq!(handle.token(), Some(Token(7)));
            prop_assert_eq!(handle.start(Token(8)), Err(HandleError::SingleUse));
        }
        prop_assert_eq!(handle.stop(), StopStep::Send(Token(7)));
        handle.stopped();
        prop_assert_eq!(handle.token(), None);
    }

    /// Whatever happened before. With `wait` a stop that cannot be sent may be made again (6).
    #[test]
    fn invariant_07_a_stop_that_does_not_wait_always_closes(steps in steps()) {
        let mut handle = Handle::default();
        for (at, step) in steps.into_iter().enumerate() {
            match step {
                Step::Start => drop(handle.start(Token(at as u64))),
                Step::Started => handle.started(),
                Step::NotStopped => handle.not_stopped(),
                _ => {}
            }
        }
        handle.stop();
        handle.stopped();
        prop_assert_eq!(handle.token(), None);
        prop_assert_eq!(handle.stop(), StopStep::Nothing);
        prop_assert!(handle.start(Token(1_000)).is_err());
    }

    #[test]
    fn invariant_08_a_failed_start_leaves_it_fresh(failures in 1..9_u64) {
        let mut handle = Handle::default();
        for token in 0..failures {
            prop_assert_eq!(handle.start(Token(token)), Ok(()));
            handle.not_started();
            prop_assert_eq!(handle.token(), None);
        }
        prop_assert_eq!(handle.start(Token(failures)), Ok(()));
        handle.started();
        prop_assert_eq!(handle.token(), Some(Token(failures)));
    }

    /// A worker that cannot start burns a handle of the original; ours can be started again.
    #[test]
    fn invariant_09_a_handle_whose_worker_did_not_start_is_not_burned(failures in 1..9_u64) {
        let mut handle = Handle::default();
        for token in 0..failures {
            prop_assert_eq!(handle.start(Token(token)), Ok(()));
            handle.not_started();
        }
        let mut other = Handle::default();
        prop_assert_eq!(other.start(Token(failures)), Ok(()));
        prop_assert_eq!(handle.start(Token(failures + 1)), Ok(()));
    }

    /// Tokens are the host's, which uses each once. A table refuses one that is in use.
    #[test]
    fn invariant_10_a_token_in_use_is_not_taken_twice(history in history()) {
        for pair in history.windows(2) {
            if let Event::Start(token, _, started) = pair[1].event && pair[0].active.contains(&token) {
                prop_assert_eq!(started, Started::Duplicate);
                prop_assert_eq!(pair[0].next_due_ms, pair[1].next_due_ms);
            }
        }
    }
}

#[test]
fn a_stop_during_the_start_wins() {
    let mut handle = Handle::default();
    handle.start(Token(1)).unwrap();
    assert_eq!(handle.stop(), StopStep::Send(Token(1)));
    handle.started();
    handle.stopped();
    assert_eq!(handle.token(), None);
    assert_eq!(handle.start(Token(2)), Err(HandleError::SingleUse));
}
