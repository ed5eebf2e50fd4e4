//! Runs the futures of `leaseline-core`.

use core::pin::pin;
use core::task::{Context, Poll, Waker};

/// The result of a future that is ready at its first poll, as all are whose host calls block.
///
/// # Panics
///
/// When the future is pending: nothing here could ever wake it.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a future waits for something that does not block"),
    }
}
