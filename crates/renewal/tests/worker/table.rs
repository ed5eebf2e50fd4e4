//! The table that the tests of this program run on: core's. Those of the component's host run some of
//! them on the component's.

use leaseline_renewal::{Settings, Worker};

pub(crate) fn worker(settings: Settings) -> Worker {
    Worker::new(settings).unwrap()
}
