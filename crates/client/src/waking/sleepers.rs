//! Who sleeps, and in which order they are woken.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::{oneshot, watch};

use super::lock;

/// How long a sleeper that was woken may take to claim before the next one is woken too: its future
/// may not be driven just now.
const ANSWER_TIME: Duration = Duration::from_secs(1);

/// A call to claim. Whoever gets it says what came of it; dropping it passes it on.
pub(crate) struct Call(oneshot::Sender<bool>);

impl Call {
    /// A call, and where its answer arrives.
    fn new() -> (Self, oneshot::Receiver<bool>) {
        let (answer, answered) = oneshot::channel();
        (Self(answer), answered)
    }

    /// Whether the claim found messages.
    pub(crate) fn answer(self, found: bool) {
        // The waiter may have ended meanwhile.
        let _ = self.0.send(found);
    }
}

/// Sleepers in the order in which they came.
#[derive(Default)]
struct Queue {
    next: u64,
    places: BTreeMap<u64, oneshot::Sender<Call>>,
    /// A waiter serves them.
    attended: bool,
}

/// The sleepers of a bell.
pub(super) struct Sleepers {
    queue: Mutex<Queue>,
    count: watch::Sender<usize>,
}

/// A place among the sleepers, which ends when it is dropped.
pub(super) struct Place<'a> {
    sleepers: &'a Sleepers,
    number: u64,
    called: oneshot::Receiver<Call>,
}

impl Sleepers {
    pub(super) fn new() -> Self {
        Self {
            queue: Mutex::default(),
            count: watch::Sender::new(0),
        }
    }

    /// Takes the last place. True: nobody attends to the sleepers, so this one has to see to it.
    pub(super) fn join(&self) -> (Place<'_>, bool) {
        let (call, called) = oneshot::channel();
        let mut queue = lock(&self.queue);
        let number = queue.next;
        queue.next += 1;
        queue.places.insert(number, call);
        let unattended = !std::mem::replace(&mut queue.attended, true);
        self.count.send_replace(queue.places.len());
        let place = Place {
            sleepers: self,
            number,
            called,
        };
        (place, unattended)
    }

    /// Wakes the first sleeper, or the next one if it does not claim soon. Whether its claim found
    /// messages; nothing if nobody claimed.
    pub(super) async fn wake_one(&self) -> Option<bool> {
        loop {
            let (call, answered) = Call::new();
            let first = {
                let mut queue = lock(&self.queue);
                let (_, first) = queue.places.pop_first()?;
                self.count.send_replace(queue.places.len());
                first
            };
            if first.send(call).is_ok()
                && let Ok(Ok(found)) = tokio::time::timeout(ANSWER_TIME, answered).await
            {
                return Some(found);
            }
        }
    }

    /// Waits until somebody sleeps.
    pub(super) async fn any(&self) {
        // An error means that the sender is gone, but it is a field of this.
        let _ = self.count.subscribe().wait_for(|count| *count > 0).await;
    }

    /// Waits until nobody has slept for so long.
    pub(super) async fn none_for(&self, long: Duration) {
        loop {
            let _ = self.count.subscribe().wait_for(|count| *count == 0).await;
            if tokio::time::timeout(long, self.any()).await.is_err() {
                return;
            }
        }
    }

    /// The waiter ends. Whoever sleeps now is woken, to find another one.
    pub(super) fn leave_unattended(&self) {
        let places = {
            let mut queue = lock(&self.queue);
            queue.attended = false;
            self.count.send_replace(0);
            std::mem::take(&mut queue.places)
        };
        for place in places.into_values() {
            let _ = place.send(Call::new().0);
        }
    }
}

impl Place<'_> {
    /// Sleeps until it is called.
    pub(super) async fn called(mut self) -> Call {
        match (&mut self.called).await {
            Ok(call) => call,
            // Never: a place is taken away only to be called.
            Err(_) => Call::new().0,
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.sleepers.queue);
        if queue.places.remove(&self.number).is_some() {
            self.sleepers.count.send_replace(queue.places.len());
        }
    }
}
