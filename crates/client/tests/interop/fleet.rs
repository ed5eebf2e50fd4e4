//! Fleets of both libraries at work on one queue: duplicates, failures, delays, and workers that
//! are killed. In the end every message is in one place, and nothing else is left.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::crew::{Crew, Shift, Tally};
use crate::peer::Library;
use crate::rest::Rest;
use crate::stage::Stage;
use crate::work::{self, Publishers, Work};

/// Far more than it takes.
const PATIENCE: Duration = Duration::from_secs(90);

const LOOK: Duration = Duration::from_millis(50);

const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn a_fleet_with_leases(stage: Stage) {
    let libraries = [stage.library()];
    with_leases(stage, &libraries).await;
}

pub(crate) async fn a_fleet_of_all_with_leases(stage: Stage) {
    with_leases(stage, &Library::ALL).await;
}

pub(crate) async fn a_fleet_without_leases(stage: Stage) {
    let libraries = [stage.library()];
    without_leases(stage, &libraries).await;
}

pub(crate) async fn a_fleet_of_all_without_leases(stage: Stage) {
    without_leases(stage, &Library::ALL).await;
}

async fn with_leases(stage: Stage, libraries: &[Library]) {
    let stage = Arc::new(stage);
    let ours = stage.ours(|_| ()).await;
    let mut shift = Shift {
        leased: true,
        spared: false,
    };
    let publishers = Publishers::open(&stage, libraries).await;
    let crew = Crew::start(&stage, libraries, shift).await;
    crew.work();
    let work = work::publish(publishers, true).await;
    settle(&stage, true).await;
    let mut tally = crew.stop().await;

    let mut rest = Rest {
        work: &work,
        tokens: Some(work.payloads.len() as u64),
        orphans: tally.killed * crate::crew::HELD,
        keeps_orphans: false,
    };
    let ended = rest.check(&stage).await;
    let letters = &ended["dlq"];
    let deadly = |payload: &&String| payload.starts_with("kills");
    assert_eq!(
        letters.iter().filter(deadly).count(),
        libraries.len() + 1,
        "no worker survives them: {letters:?}"
    );
    check_shares(&tally);

    // All but the last letter get another chance.
    let letters = letters.len() as u64;
    assert_eq!(ours.redrive(letters - 1).await, Ok(letters - 1));
    shift.spared = true;
    let crew = Crew::start(&stage, libraries, shift).await;
    crew.work();
    settle(&stage, true).await;
    let second = crew.stop().await;
    assert_eq!(second.killed, 0);
    tally.by_us.extend(second.by_us);
    tally.by_them.extend(second.by_them);
    let ended = rest.check(&stage).await;
    assert_eq!(ended["dlq"].len(), 1);
    check_handled(&work, &ended["dlq"], &tally);

    // A drain of the idle queue takes the counter away as well.
    assert_eq!(ours.drain(DRAIN_TIMEOUT).await, Ok(true));
    rest.tokens = None;
    rest.check(&stage).await;
}

/// Whoever is killed takes along what it holds: at most once.
async fn without_leases(stage: Stage, libraries: &[Library]) {
    let stage = Arc::new(stage);
    let shift = Shift {
        leased: false,
        spared: false,
    };
    let publishers = Publishers::open(&stage, libraries).await;
    let crew = Crew::start(&stage, libraries, shift).await;
    crew.work();
    let work = work::publish(publishers, false).await;
    settle(&stage, false).await;
    let tally = crew.stop().await;
    let rest = Rest {
        work: &work,
        tokens: None,
        orphans: tally.killed,
        keeps_orphans: true,
    };
    let ended = rest.check(&stage).await;
    assert_eq!(ended["dlq"].len(), 0);
    check_shares(&tally);
}

/// Waits until nothing is left to do: for what is pending and, with leases, for what is in work.
async fn settle(stage: &Stage, leased: bool) {
    let queue = stage.ours(|_| ()).await;
    let began = Instant::now();
    loop {
        let stats = queue.stats().await.expect("stats");
        if stats.pending == 0 && (!leased || stats.processing + stats.delayed == 0) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "not done: {stats:?}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Either library had messages of the other, and some workers were killed.
fn check_shares(tally: &Tally) {
    let ours = |payload: &String| payload.contains("from us");
    assert!(tally.by_them.iter().any(ours), "they had nothing of ours");
    let theirs =
        |payload: &String| payload.contains("from 8.3.0") || payload.contains("from 11.0.1");
    assert!(tally.by_us.iter().any(theirs), "we had nothing of theirs");
    assert!(tally.killed > 0);
}

/// A handler was given every message that is not dead.
fn check_handled(work: &Work, letters: &[String], tally: &Tally) {
    for payload in &work.payloads {
        let handled = tally.by_us.contains(payload) || tally.by_them.contains(payload);
        assert!(handled || letters.contains(payload), "{payload}");
    }
}
