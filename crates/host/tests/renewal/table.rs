//! The table that the worker's tests run on here: the component's.

use leaseline_renewal::{Settings, Worker};

use crate::component::ComponentTable;

pub(crate) fn worker(settings: Settings) -> Worker {
    let table = ComponentTable::open(&settings, 7);
    Worker::with_schedule(settings, table).unwrap()
}
