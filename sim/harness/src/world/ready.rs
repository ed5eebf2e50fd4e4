//! Which clients are to be polled.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// The clients that can go on, in the order in which they could.
#[derive(Debug, Default)]
pub(crate) struct Ready(Mutex<VecDeque<usize>>);

impl Ready {
    pub(crate) fn push(&self, client: usize) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !waiting.contains(&client) {
            waiting.push_back(client);
        }
    }

    pub(crate) fn pop(&self) -> Option<usize> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.pop_front()
    }
}

struct ClientWaker {
    ready: Arc<Ready>,
    client: usize,
}

impl Wake for ClientWaker {
    fn wake(self: Arc<Self>) {
        self.ready.push(self.client);
    }
}

/// What a client's future is polled with.
pub(crate) fn waker(ready: &Arc<Ready>, client: usize) -> Waker {
    let ready = ready.clone();
    Waker::from(Arc::new(ClientWaker { ready, client }))
}
