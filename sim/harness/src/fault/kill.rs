//! A worker is killed where it waits for a request, or in a pause between two: its future is dropped, and with it whatever it
//! knew. A new worker takes its place.

use crate::world::{Answering, Plan};

pub(super) fn disturb(plan: &mut Plan, ran: bool) {
    if !ran {
        plan.arrives_us = None;
    }
    plan.answering = Answering::Never;
    plan.kill = true;
}
