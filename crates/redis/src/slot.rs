//! The place of the current connection: who dials, who waits, who gets which.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};

use crate::connector::Connector;
use crate::dial::dial;
use crate::error::OpenError;
use crate::link::Link;

/// `None` when the dialling task died with its runtime.
type Dialling = Shared<BoxFuture<'static, Option<Result<Arc<Link>, OpenError>>>>;

enum State {
    Empty,
    Dialling(Dialling),
    Ready(Arc<Link>),
}

/// At most one connection gets new calls, and at most one is being dialled.
///
/// Dialling is a task of its own: a caller whose deadline is shorter than a handshake gives up
/// alone, and finds the connection ready the next time.
pub(crate) struct Slot {
    connector: Arc<Connector>,
    state: Mutex<State>,
}

impl Slot {
    pub(crate) fn new(connector: Connector) -> Arc<Self> {
        Arc::new(Self {
            connector: Arc::new(connector),
            state: Mutex::new(State::Empty),
        })
    }

    pub(crate) fn connector(&self) -> &Connector {
        &self.connector
    }

    /// The current connection, if it is not known to be closed, else a new one.
    pub(crate) async fn link(self: &Arc<Self>) -> Result<Arc<Link>, OpenError> {
        loop {
            let dialling = {
                let mut state = self.lock();
                match &*state {
                    State::Ready(link) if link.is_open() => return Ok(link.clone()),
                    State::Dialling(dialling) => dialling.clone(),
                    State::Ready(_) | State::Empty => {
                        let dialling = self.start_dialling();
                        *state = State::Dialling(dialling.clone());
                        dialling
                    }
                }
            };
            if let Some(result) = dialling.clone().await {
                return result;
            }
            // Not our runtime's task: another caller's runtime ended in the middle. Ours is
            // alive, so the next round succeeds or fails by itself.
            let mut state = self.lock();
            if matches!(&*state, State::Dialling(current) if current.ptr_eq(&dialling)) {
                *state = State::Empty;
            }
        }
    }

    /// Takes the place away from `link`, if it still has it. Calls that are waiting on it go on;
    /// the socket closes when the last of them ends.
    pub(crate) fn retire(&self, link: &Arc<Link>) {
        let mut state = self.lock();
        if matches!(&*state, State::Ready(current) if Arc::ptr_eq(current, link)) {
            *state = State::Empty;
        }
    }

    fn start_dialling(self: &Arc<Self>) -> Dialling {
        let connector = self.connector.clone();
        let slot: Weak<Self> = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            let result = dial(connector, "leaseline").await;
            // The task itself puts the result in place, so that one which nobody waited for is
            // neither lost nor reported to a later caller as news.
            if let Some(slot) = slot.upgrade() {
                *slot.lock() = match &result {
                    Ok(link) => State::Ready(link.clone()),
                    Err(_) => State::Empty,
                };
            }
            result
        });
        task.map(Result::ok).boxed().shared()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock can leave a half-made state behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
