//! The place of something that is shared and made anew when it is lost, such as a connection: who
//! makes it, who waits, who gets which.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};

use crate::error::OpenError;

/// How a thing is made.
pub(crate) trait Maker: Send + Sync + 'static {
    type Thing: Send + Sync + 'static;

    fn make(&self) -> impl Future<Output = Result<Arc<Self::Thing>, OpenError>> + Send;

    /// Whether it is not known to be useless.
    fn is_usable(thing: &Self::Thing) -> bool;
}

/// `None` when the making task died with its runtime.
type Making<T> = Shared<BoxFuture<'static, Option<Result<Arc<T>, OpenError>>>>;

enum State<T> {
    Empty,
    Making(Making<T>),
    Ready(Arc<T>),
}

/// At most one thing is given to new callers, and at most one is being made.
///
/// Making is a task of its own: a caller whose deadline is shorter than a handshake gives up
/// alone, and finds the connection ready the next time.
pub(crate) struct Place<M: Maker> {
    maker: Arc<M>,
    state: Mutex<State<M::Thing>>,
}

impl<M: Maker> Place<M> {
    pub(crate) fn new(maker: M) -> Arc<Self> {
        Arc::new(Self {
            maker: Arc::new(maker),
            state: Mutex::new(State::Empty),
        })
    }

    pub(crate) fn maker(&self) -> &M {
        &self.maker
    }

    /// The current thing, if it is not known to be useless, else a new one.
    pub(crate) async fn get(self: &Arc<Self>) -> Result<Arc<M::Thing>, OpenError> {
        loop {
            let making = {
                let mut state = self.lock();
                match &*state {
                    State::Ready(thing) if M::is_usable(thing) => return Ok(thing.clone()),
                    State::Making(making) => making.clone(),
                    State::Ready(_) | State::Empty => {
                        let making = self.start();
                        *state = State::Making(making.clone());
                        making
                    }
                }
            };
            if let Some(result) = making.clone().await {
                return result;
            }
            // Not our runtime's task: another caller's runtime ended in the middle. Ours is
            // alive, so the next round succeeds or fails by itself.
            let mut state = self.lock();
            if matches!(&*state, State::Making(current) if current.ptr_eq(&making)) {
                *state = State::Empty;
            }
        }
    }

    /// Takes the place away from `thing`, if it still has it. Who uses it goes on doing so: the
    /// socket of a connection closes when the last of its calls ends.
    pub(crate) fn retire(&self, thing: &Arc<M::Thing>) {
        let mut state = self.lock();
        if matches!(&*state, State::Ready(current) if Arc::ptr_eq(current, thing)) {
            *state = State::Empty;
        }
    }

    fn start(self: &Arc<Self>) -> Making<M::Thing> {
        let maker = self.maker.clone();
        let place: Weak<Self> = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            let result = maker.make().await;
            // The task itself puts the result in place, so that one which nobody waited for is
            // neither lost nor reported to a later caller as news.
            if let Some(place) = place.upgrade() {
                *place.lock() = match &result {
                    Ok(thing) => State::Ready(thing.clone()),
                    Err(_) => State::Empty,
                };
            }
            result
        });
        task.map(Result::ok).boxed().shared()
    }

    fn lock(&self) -> MutexGuard<'_, State<M::Thing>> {
        // Nothing under the lock can leave a half-made state behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
