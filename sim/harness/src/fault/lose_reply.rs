//! A reply is lost: the request ran, and the client waits for its deadline.

use crate::world::{Answering, Plan};

pub(super) fn disturb(plan: &mut Plan) {
    plan.answering = Answering::Never;
}
