//! A request runs twice, because a library on the way sent it again after the first reply was
//! lost; the client hears the second one. If that is a refusal, such a library has to say that the
//! outcome is unknown: the first may have taken effect.

use crate::world::Plan;

pub(super) fn disturb(plan: &mut Plan, by_us: u64) {
    plan.first_copy = true;
    plan.reply_us += by_us;
    plan.again_us = by_us;
}
