//! A replica takes over that lacks the last scripts. It has no scripts cached, and its clock is not
//! that of the old primary.

use crate::world::World;

pub(super) fn inject(world: &mut World, lost: usize, shift_us: i64) {
    super::restart::inject(world, lost);
    super::jump::shift(world, shift_us);
}
