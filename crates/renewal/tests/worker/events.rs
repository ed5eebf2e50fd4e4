//! What the worker tells a program's log: invariant 45.

use std::fmt::{Debug, Write};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use leaseline_renewal::{Failure, Settings};
use proptest::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::world::*;

/// Writes down all events up to a level.
struct Log {
    level: Level,
    events: Arc<Mutex<Vec<String>>>,
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= self.level && metadata.target().starts_with("leaseline")
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut text = Text(event.metadata().level().to_string());
        event.record(&mut text);
        self.events.lock().unwrap().push(text.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The events of this work, up to a level.
pub(crate) fn told<T>(level: Level, work: impl FnOnce() -> T) -> (Vec<String>, T) {
    let events = Arc::<Mutex<Vec<String>>>::default();
    let log = Log {
        level,
        events: Arc::clone(&events),
    };
    let done = tracing::subscriber::with_default(log, work);
    let events = events.lock().unwrap().clone();
    (events, done)
}

/// What nobody may read in a log.
const RECEIPT: &str = "rh_1_s3cret";

/// All that a worker has something to tell of.
fn eventful(hint: u64) {
    paused(async {
        let mut settings = Settings::default();
        settings.command_capacity = 2;
        let world = World::with(
            settings,
            1,
            [
                Answer::Now(LOST),
                Answer::Now(Err(Failure::Throttled(Some(hint)))),
                Answer::Panic,
                Answer::Never,
                Answer::Never,
            ],
        );
        let (stuck, refused) = (world.lease(RECEIPT), world.lease(RECEIPT));
        let leases: Vec<_> = (0..4).map(|_| world.lease(RECEIPT)).collect();
        stuck.start().await.unwrap();
        pass(50_000).await;
        stuck.stop().await.unwrap();
        refused.start().await.unwrap();
        world.server.crash.store(true, Ordering::SeqCst);
        world
            .server
            .answer([Answer::Now(REFUSED), Answer::Now(REFUSED)]);
        pass(30_000).await;
        world
            .server
            .answer([Answer::Now(Err(Failure::Gone)), Answer::Now(REFUSED)]);
        drop(refused.extend(5.0).await);
        drop(refused.extend(5.0).await);
        drop(refused.extend(-5.0).await);
        for lease in &leases {
            lease.start().await.unwrap();
        }
        drop(leases);
        pass(1).await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn invariant_45_no_event_has_a_receipt_and_debugging_is_asked_for(hint in 0..20_000_u64) {
        let (events, ()) = told(Level::TRACE, || eventful(hint));
        let debug = events.iter().filter(|event| event.starts_with("DEBUG")).count();
        prop_assert!(debug >= 4 && debug < events.len(), "{:?}", events);
        prop_assert!(!events.iter().any(|event| event.contains(RECEIPT)), "{:?}", events);
        let (events, ()) = told(Level::INFO, || eventful(hint));
        prop_assert!(!events.is_empty());
        prop_assert!(events.iter().all(|event| event.starts_with("WARN")), "{:?}", events);
    }
}
