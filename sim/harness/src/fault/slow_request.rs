//! A request takes its time on the way. The client may give up before.

use crate::world::Plan;

pub(super) fn disturb(plan: &mut Plan, by_us: u64) {
    plan.arrives_us = plan.arrives_us.map(|arrives| arrives + by_us);
}
