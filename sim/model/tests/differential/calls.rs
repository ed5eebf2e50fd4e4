//! Random commands over a few keys of all types, wrong types and bad arguments included.

use std::collections::BTreeSet;

use crate::calls_hashes;
use crate::calls_keys;
use crate::calls_lists;
use crate::calls_sets;
use crate::calls_streams;
use crate::calls_strings;
use crate::calls_zsets;
use crate::random::Random;

/// What stands for one argument, or for several.
#[derive(Clone, Copy)]
pub(crate) enum Slot {
    Key,
    Field,
    Value,
    Integer,
    Index,
    Count,
    Score,
    Bound,
    /// An end of a range of members.
    LexBound,
    /// A member of a sorted set.
    Member,
    /// One that may be too long for the compact encoding of a sorted set.
    LongMember,
    Cursor,
    /// Of one that never waits.
    Timeout,
    /// A time to live: far in the future or in the past, so that the clocks of the two servers
    /// need not agree.
    Lifetime,
    /// An absolute time, likewise.
    Instant,
    Word(&'static [&'static str]),
    /// A word or nothing.
    Maybe(&'static [&'static str]),
    /// One to three times what follows.
    Many(&'static [Slot]),
    /// The number of keys, then the keys.
    CountedKeys,
    /// What follows, or nothing.
    Perhaps(&'static [Slot]),
}

use Slot::{
    Bound, Count, CountedKeys, Cursor, Field, Index, Instant, Integer, Key, LexBound, Lifetime,
    LongMember, Many, Maybe, Member, Perhaps, Score, Timeout, Value, Word,
};

/// A command's name and what it is called with.
pub(crate) type Form = (&'static str, &'static [Slot]);

/// The forms of calls, one list per family of commands.
const FAMILIES: &[&[Form]] = &[
    calls_hashes::COMMANDS,
    calls_keys::COMMANDS,
    calls_lists::COMMANDS,
    calls_sets::COMMANDS,
    calls_streams::COMMANDS,
    calls_strings::COMMANDS,
    calls_zsets::COMMANDS,
];

pub(crate) const KEYS: [&str; 5] = ["k1", "k2", "k3", "k4", ""];
const FIELDS: [&str; 5] = ["a", "b", "c", "aa", ""];
pub(crate) const VALUES: [&str; 12] = [
    "a",
    "b",
    "",
    "1",
    "-7",
    "0.5",
    "10",
    "9223372036854775807",
    "a b",
    "\u{1}\u{0}x",
    "é",
    "01",
];
const INTEGERS: [&str; 10] = [
    "1",
    "-1",
    "0",
    "100",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "1.5",
    "x",
    "",
];
const INDICES: [&str; 9] = ["0", "1", "-1", "2", "-2", "5", "-100", "100", "x"];
const COUNTS: [&str; 6] = ["0", "1", "2", "100", "-1", "x"];
const SCORES: [&str; 24] = [
    "1",
    "2",
    "-1.5",
    "0.1",
    "3",
    "1e17",
    "1e300",
    "inf",
    "-inf",
    "-0",
    "0x10",
    "1700000000123.25",
    "nan",
    "x",
    "1e400",
    "5e-324",
    "12345678901234567",
    "4611686018427387904",
    "0.12345678901234567",
    "-0.0",
    "1e-400",
    "+5",
    " 1",
    "",
];
const BOUNDS: [&str; 16] = [
    "-inf", "+inf", "0", "1", "(1", "3", "(3", "-1.5", "1e17", "(-inf", "-0", "(0", "(", "", "x",
    "nan",
];
const LEX_BOUNDS: [&str; 14] = [
    "-", "+", "[a", "(a", "[b", "(b", "[aa", "(c", "[", "(", "[\u{0}", "a", "", "+a",
];
const MEMBERS: [&str; 8] = ["a", "b", "c", "aa", "", "ab", "1", "é"];
const LONG_MEMBERS: [&str; 4] = [
    "a",
    "b",
    "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll",
    "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm",
];
const CURSORS: [&str; 8] = ["0", "0", "17", "-1", "", "00", "x", "18446744073709551616"];
const TIMEOUTS: [&str; 12] = [
    "0", "0.5", "1", "1e3", "-0", "0x1", "-1", "inf", "1e400", "nan", "x", "",
];
const LIFETIMES: [&str; 4] = ["0", "-1", "9223372036854775807", "x"];
const INSTANTS: [&str; 7] = [
    "1",
    "0",
    "-5",
    "4102444800",
    "4102444800000",
    "9223372036854775807",
    "x",
];

/// One call of any command: its name, then its arguments.
pub(crate) fn call(random: &mut Random) -> Vec<String> {
    let all: usize = FAMILIES.iter().map(|family| family.len()).sum();
    let chosen = random.below(all);
    let form = FAMILIES.iter().copied().flatten().nth(chosen);
    fill_form(random, form.expect("fewer than all"))
}

/// What a sequence is made of: everything, one family, or what begins with a few letters. Of fewer
/// commands, more find the values of others.
pub(crate) fn some_forms(random: &mut Random) -> Vec<Form> {
    let mut forms = FAMILIES.concat();
    match random.below(3) {
        0 => FAMILIES[random.below(FAMILIES.len())].to_vec(),
        1 => {
            let letter = |form: &Form| form.0.chars().next();
            let letters: BTreeSet<_> = forms.iter().map(letter).collect();
            let letters: Vec<_> = letters.into_iter().collect();
            let chosen: Vec<_> = (0..3)
                .map(|_| letters[random.below(letters.len())])
                .collect();
            forms.retain(|form| chosen.contains(&letter(form)));
            forms
        }
        _ => forms,
    }
}

/// One call of some commands.
pub(crate) fn call_of(random: &mut Random, forms: &[Form]) -> Vec<String> {
    let chosen = random.below(forms.len());
    fill_form(random, &forms[chosen])
}

fn fill_form(random: &mut Random, (name, slots): &Form) -> Vec<String> {
    let mut words = vec![match random.below(3) {
        0 => name.to_lowercase(),
        _ => (*name).to_owned(),
    }];
    for slot in *slots {
        fill(random, *slot, &mut words);
    }
    // A call with too many or too few arguments now and then.
    if random.one_in(40) {
        words.push(random.pick(&VALUES).to_owned());
    } else if random.one_in(40) && words.len() > 1 && !chooses_without_count(name) {
        words.pop();
    }
    words
}

/// Whether a command chooses at random if it is not told how many.
fn chooses_without_count(name: &str) -> bool {
    ["SPOP", "SRANDMEMBER"].contains(&name)
}

fn fill(random: &mut Random, slot: Slot, words: &mut Vec<String>) {
    if matches!(slot, Lifetime) && random.below(7) < 3 {
        // Seldom the same twice: whether GT and LT find two equal ones equal is up to the clocks.
        let lifetime = 100_000 * (1 + random.below(1_000_000));
        words.push(lifetime.to_string());
        return;
    }
    let choices: &[&str] = match slot {
        Key => &KEYS,
        Field => &FIELDS,
        Value => &VALUES,
        Integer => &INTEGERS,
        Index => &INDICES,
        Count => &COUNTS,
        Score => &SCORES,
        Bound => &BOUNDS,
        LexBound => &LEX_BOUNDS,
        Member => &MEMBERS,
        LongMember => &LONG_MEMBERS,
        Cursor => &CURSORS,
        Timeout => &TIMEOUTS,
        Lifetime => &LIFETIMES,
        Instant => &INSTANTS,
        Word(choices) => choices,
        Maybe(choices) if random.one_in(3) => choices,
        Many(slots) => {
            for _ in 0..=random.below(3) {
                for slot in slots {
                    fill(random, *slot, words);
                }
            }
            return;
        }
        CountedKeys => {
            let count = 1 + random.below(3);
            words.push(match random.below(20) {
                0 => random.pick(&INTEGERS).to_owned(),
                _ => count.to_string(),
            });
            for _ in 0..count {
                fill(random, Key, words);
            }
            return;
        }
        Perhaps(slots) if random.one_in(3) => {
            for slot in slots {
                fill(random, *slot, words);
            }
            return;
        }
        Maybe(_) | Perhaps(_) => return,
    };
    // Mostly a good argument: the first ones are.
    let reach = match random.below(4) {
        0 => choices.len(),
        _ => choices.len().div_ceil(2),
    };
    words.push(choices[random.below(reach)].to_owned());
}
