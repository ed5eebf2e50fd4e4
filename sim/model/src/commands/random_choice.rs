//! Members chosen at random, for `SRANDMEMBER`, `SPOP` and `ZRANDMEMBER`.

use crate::arguments::integer;
use crate::random::Random;
use crate::refusal::Refusal;

/// The most members that may be asked for with repetitions, for the sake of memory.
const MOST_REPEATED: u64 = 1 << 20;

/// How many members to choose; if negative, so many with repetitions.
pub(super) fn count(text: &[u8]) -> Result<i64, Refusal> {
    match integer(text)? {
        i64::MIN => Err(Refusal::Text(
            "ERR value is out of range, value must between -9223372036854775807 and \
             9223372036854775807",
        )),
        count => Ok(count),
    }
}

/// Chooses so many of the `length` members as [`count`] says, for a command of this name.
pub(super) fn choose<T: Clone>(
    random: &mut Random,
    members: impl Iterator<Item = T>,
    length: usize,
    count: i64,
    command: &str,
) -> Result<Vec<T>, Refusal> {
    let wanted = count.unsigned_abs();
    if count >= 0 {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        return Ok(different(random, members, length, wanted));
    }
    if wanted > MOST_REPEATED {
        return Err(Refusal::unsupported(format!("{command} with {count}")));
    }
    let members: Vec<_> = members.collect();
    let chosen = (0..wanted).filter_map(|_| members.get(random.below(members.len())).cloned());
    Ok(chosen.collect())
}

/// That many different members, or all, in their order.
pub(super) fn different<T>(
    random: &mut Random,
    members: impl Iterator<Item = T>,
    length: usize,
    mut wanted: usize,
) -> Vec<T> {
    let mut left = length;
    let is_chosen = |_: &T| {
        let chosen = random.below(left) < wanted;
        left -= 1;
        wanted -= usize::from(chosen);
        chosen
    };
    members.filter(is_chosen).collect()
}
