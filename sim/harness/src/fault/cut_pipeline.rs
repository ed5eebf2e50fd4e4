//! The connection breaks in the middle of a pipeline: only its first commands run.

use crate::world::{Answering, Plan};

pub(super) fn disturb(plan: &mut Plan, first: usize) {
    plan.first = first;
    plan.answering = Answering::Reset;
}
