//! A reply takes its time on the way. The client may give up before.

use crate::world::Plan;

pub(super) fn disturb(plan: &mut Plan, by_us: u64) {
    plan.reply_us += by_us;
}
