//! What a fleet is given to do.

use std::collections::BTreeSet;
use std::time::Duration;

use leaseline::message::PublishOutcome::Published;
use leaseline::{Message, Queue};
use serde_json::json;

use crate::peer::{Library, Peer};
use crate::stage::Stage;

/// Orders that every library publishes, each under one deduplication key.
const ORDERS: usize = 40;

/// What becomes of a message in the hands of a worker: its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is acknowledged.
    Done,
    /// Its handler fails.
    Fails,
    /// It kills its worker, unless the fleet is spared.
    Kills,
    /// Its handler takes longer than the lease, unless the fleet is spared.
    Stalls,
    /// We release it for a while when we are the first to have it.
    Returns,
}

impl Fate {
    pub(crate) fn of(payload: &str) -> Self {
        match payload.split(' ').next() {
            Some("done") => Self::Done,
            Some("fails") => Self::Fails,
            Some("kills") => Self::Kills,
            Some("stalls") => Self::Stalls,
            Some("returns") => Self::Returns,
            other => panic!("{other:?} is no fate"),
        }
    }
}

/// What was published: the payloads, no two alike, and the deduplication keys.
#[derive(Default)]
pub(crate) struct Work {
    pub(crate) payloads: BTreeSet<String>,
    pub(crate) keys: BTreeSet<String>,
}

/// Those who publish: we, and each version of the original with and without deduplication.
pub(crate) struct Publishers {
    ours: Queue,
    theirs: Vec<(Library, Peer, Peer)>,
}

impl Publishers {
    pub(crate) async fn open(stage: &Stage, libraries: &[Library]) -> Self {
        let open = |library: &Library| {
            let once = stage.peer(*library, json!({"deduplication": true}));
            let simple = stage.peer(*library, json!({}));
            (*library, once, simple)
        };
        Self {
            ours: stage.ours(|_| ()).await,
            theirs: libraries.iter().map(open).collect(),
        }
    }
}

/// Publishes with all at once. Of an order that all publish one is accepted.
pub(crate) async fn publish(publishers: Publishers, leased: bool) -> Work {
    let theirs: Vec<_> = publishers
        .theirs
        .into_iter()
        .map(|(library, once, simple)| {
            tokio::task::spawn_blocking(move || publish_theirs(library, once, simple, leased))
        })
        .collect();
    let mut accepted = publish_ours(&publishers.ours, leased).await;
    for theirs in theirs {
        accepted.extend(theirs.await.expect("they publish"));
    }

    let keys: BTreeSet<String> = (0..ORDERS).map(order).collect();
    let ordered = accepted
        .iter()
        .filter_map(|payload| payload.split(' ').find(|word| word.starts_with("order-")));
    let ordered: Vec<String> = ordered.map(String::from).collect();
    assert_eq!(ordered.len(), ORDERS, "each order is accepted once");
    assert_eq!(ordered.into_iter().collect::<BTreeSet<_>>(), keys);
    let payloads: BTreeSet<String> = accepted.iter().cloned().collect();
    assert_eq!(payloads.len(), accepted.len(), "no two messages are alike");
    Work { payloads, keys }
}

fn order(number: usize) -> String {
    format!("order-{number}")
}

/// Messages without a deduplication key.
fn plain(publisher: &str, leased: bool) -> Vec<String> {
    let mut fates = vec![("done", 20), ("fails", 6), ("kills", 1)];
    if leased {
        fates.extend([("stalls", 2), ("returns", 4)]);
    }
    let texts = fates.into_iter().flat_map(|(fate, count)| {
        (0..count).map(move |number| format!("{fate} from {publisher} {number} ü"))
    });
    texts.collect()
}

fn publish_theirs(library: Library, mut once: Peer, mut simple: Peer, leased: bool) -> Vec<String> {
    let publisher = library.version();
    let mut accepted = Vec::new();
    for number in 0..ORDERS {
        let text = format!("done {} from {publisher}", order(number));
        if once.publish_once(&text, &order(number)) {
            accepted.push(text);
        }
    }
    for text in plain(publisher, leased) {
        assert!(simple.publish(text.as_str()));
        accepted.push(text);
    }
    accepted
}

async fn publish_ours(ours: &Queue, leased: bool) -> Vec<String> {
    let mut messages = Vec::new();
    // From the other end than they, so that each is first with some.
    for number in (0..ORDERS).rev() {
        let text = format!("done {} from us", order(number));
        let mut message = Message::text(&text).deduplication_key(order(number));
        if leased && number % 4 == 0 {
            message = message.delay(Duration::from_millis(700));
        }
        messages.push((text, message));
    }
    for text in plain("us", leased) {
        let message = Message::text(&text);
        messages.push((text, message));
    }
    if leased {
        for number in 0..8 {
            let text = format!("done later {number}");
            let message = Message::text(&text).delay(Duration::from_millis(200 * number));
            messages.push((text, message));
        }
    }
    let mut accepted = Vec::new();
    for (text, message) in messages {
        if ours.publish(message).await.expect("it is published") == Published {
            accepted.push(text);
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    accepted
}
