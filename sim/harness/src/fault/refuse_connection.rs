//! There is no connection: the request never left, and the client knows it.

use crate::world::{Answering, Plan};

pub(super) fn disturb(plan: &mut Plan) {
    plan.arrives_us = None;
    plan.answering = Answering::NotSent;
}
