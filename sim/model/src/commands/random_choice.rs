//! Choosing at random, as `SPOP`, `SRANDMEMBER`, `HRANDFIELD` and `ZRANDMEMBER` do.

use crate::number;
use crate::random::Random;
use crate::refusal::Refusal;

/// The most that may be asked for with repetitions, for the sake of memory.
const MOST_REPEATED: u64 = 1 << 20;

/// How many to choose: different ones, or if negative, so many with repetitions.
pub(super) fn count(text: &[u8]) -> Result<i64, Refusal> {
    match number::parse_integer(text) {
        None => Err(Refusal::NotInteger),
        Some(i64::MIN) => Err(Refusal::Text(
            "ERR value is out of range, value must between -9223372036854775807 and \
             9223372036854775807",
        )),
        Some(count) => Ok(count),
    }
}

/// As [`count`], of pairs: the two of each have to be countable as well.
pub(super) fn check_pairs(count: i64) -> Result<(), Refusal> {
    match count.unsigned_abs() > i64::MAX as u64 / 2 {
        true => Err(Refusal::Text("ERR value is out of range")),
        false => Ok(()),
    }
}

/// Chooses from `length` items by a [`count`].
pub(super) fn choose<T: Clone>(
    random: &mut Random,
    items: impl Iterator<Item = T>,
    length: usize,
    count: i64,
) -> Result<Vec<T>, Refusal> {
    let wanted = count.unsigned_abs();
    if count >= 0 {
        let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
        return Ok(different(random, items, length, wanted));
    }
    if wanted > MOST_REPEATED {
        let what = format!("a random choice with {wanted} repetitions");
        return Err(Refusal::unsupported(what));
    }
    let items: Vec<T> = items.collect();
    let chosen = (0..wanted).filter_map(|_| items.get(random.below(items.len())).cloned());
    Ok(chosen.collect())
}

/// Chooses so many different ones from `length` items, or all, in their order.
pub(super) fn different<T>(
    random: &mut Random,
    items: impl Iterator<Item = T>,
    length: usize,
    mut wanted: usize,
) -> Vec<T> {
    let mut left = length;
    let is_chosen = |_: &T| {
        let chosen = random.below(left) < wanted;
        left = left.saturating_sub(1);
        wanted -= usize::from(chosen);
        chosen
    };
    items.filter(is_chosen).collect()
}
