//! The connection is reset after the server has run the request. The client cannot tell.

use crate::world::{Answering, Plan};

pub(super) fn disturb(plan: &mut Plan) {
    plan.answering = Answering::Reset;
}
