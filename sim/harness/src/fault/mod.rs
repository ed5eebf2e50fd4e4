//! What goes wrong, one file each. A fault of the network edits the [`Plan`] of one request; the
//! others change the [`World`] when their line of the case is reached.

mod cut_pipeline;
mod duplicate_request;
mod evict;
mod fail_call;
mod failover;
mod fill;
mod flush_scripts;
mod heartbeat;
mod jump;
mod kill;
mod late_request;
mod lose_reply;
mod lose_request;
mod pause;
mod push_foreign;
mod refusal;
mod refuse_connection;
mod remove_by_hand;
mod reset_after;
mod reset_before;
mod restart;
mod share;
mod slow_reply;
mod slow_request;
mod tick_in_scripts;
mod wrong_type;

use crate::case::{Op, Settings, ms};
use crate::world::{Plan, World};

pub(crate) use wrong_type::uncover;

/// Whether a line of a case waits for a request of a client: which client, and how many requests
/// pass before.
pub(crate) fn armed(op: &Op) -> Option<(u32, u32)> {
    match *op {
        Op::LoseRequest { client, after }
        | Op::LoseReply { client, after }
        | Op::RefuseConnection { client, after }
        | Op::ResetBefore { client, after }
        | Op::ResetAfter { client, after }
        | Op::LateRequest { client, after, .. }
        | Op::SlowRequest { client, after, .. }
        | Op::SlowReply { client, after, .. }
        | Op::DuplicateRequest { client, after, .. }
        | Op::CutPipeline { client, after, .. }
        | Op::Kill { client, after, .. } => Some((client, after)),
        _ => None,
    }
}

/// Edits the plan of the request that an armed fault meets.
pub(crate) fn disturb(op: &Op, plan: &mut Plan, settings: &Settings) {
    let us = |moment| ms(settings, moment) * 1000;
    match *op {
        Op::LoseRequest { .. } => lose_request::disturb(plan),
        Op::LoseReply { .. } => lose_reply::disturb(plan),
        Op::RefuseConnection { .. } => refuse_connection::disturb(plan),
        Op::ResetBefore { .. } => reset_before::disturb(plan),
        Op::ResetAfter { .. } => reset_after::disturb(plan),
        Op::LateRequest { by, .. } => late_request::disturb(plan, us(by)),
        Op::SlowRequest { by, .. } => slow_request::disturb(plan, us(by)),
        Op::SlowReply { by, .. } => slow_reply::disturb(plan, us(by)),
        Op::DuplicateRequest { by, .. } => duplicate_request::disturb(plan, us(by)),
        Op::CutPipeline { first, .. } => cut_pipeline::disturb(plan, first as usize),
        Op::Kill { ran, .. } => kill::disturb(plan, ran == 1),
        _ => {}
    }
}

/// Lets a fault that is not of the network happen. False: the line is none.
pub(crate) fn inject(op: &Op, world: &mut World) -> bool {
    let at = |moment| ms(&world.settings, moment);
    match *op {
        Op::FlushScripts {} => flush_scripts::inject(world),
        Op::Restart { lost } => restart::inject(world, lost as usize),
        Op::Failover {
            lost,
            ahead,
            behind,
        } => {
            let shift = at(ahead) as i64 - at(behind) as i64;
            failover::inject(world, lost as usize, shift * 1000);
        }
        Op::ReadOnly { by } => refusal::read_only(world, at(by)),
        Op::Loading { by } => refusal::loading(world, at(by)),
        Op::Misconf { by } => refusal::misconf(world, at(by)),
        Op::OutOfMemory { by } => refusal::out_of_memory(world, at(by)),
        Op::FailCall { call, error } => fail_call::inject(world, call, error),
        Op::Evict { queue, key } => evict::inject(world, queue, key),
        Op::WrongType { queue, key, by } => wrong_type::inject(world, queue, key, at(by)),
        Op::JumpForward { by } => jump::forward(world, at(by)),
        Op::JumpBack { by } => jump::back(world, at(by)),
        Op::TickInScripts { ms } => tick_in_scripts::inject(world, ms),
        Op::Pause { client } => pause::pause(world, client),
        Op::Resume { client } => pause::resume(world, client),
        Op::Share { from, to } => share::inject(world, from, to),
        Op::Heartbeat { client, by } => heartbeat::inject(world, client, at(by)),
        Op::Fill {
            queue,
            hundreds,
            state,
        } => fill::inject(world, queue, hundreds, state),
        Op::PushForeign { queue } => push_foreign::inject(world, queue),
        Op::RemoveByHand { queue, list } => remove_by_hand::inject(world, queue, list),
        _ => return false,
    }
    true
}
