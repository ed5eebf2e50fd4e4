//! The connection is reset, and the request, which the server's machine had received, runs later.

use crate::world::{Answering, Plan};

pub(super) fn disturb(plan: &mut Plan, by_us: u64) {
    plan.arrives_us = Some(by_us);
    plan.answering = Answering::ResetAtOnce;
}
