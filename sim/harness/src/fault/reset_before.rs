//! The connection is reset before the server reads the request. The client cannot tell.

use crate::world::{Answering, Plan};

pub(super) fn disturb(plan: &mut Plan) {
    plan.arrives_us = None;
    plan.answering = Answering::Reset;
}
