//! A request is lost: nothing runs, and the client waits for its deadline.

use crate::world::{Answering, Plan};

pub(super) fn disturb(plan: &mut Plan) {
    plan.arrives_us = None;
    plan.answering = Answering::Never;
}
