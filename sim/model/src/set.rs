//! A set value.

use std::collections::BTreeSet;

use crate::fields::Fields;
use crate::number;

/// The members of a set.
///
/// Redis promises no order. As in Redis, a small set of integers alone is in the order of numbers.
/// Any other is in the order of insertion, so that replies never depend on a hash seed.
#[derive(Debug, Clone)]
pub(crate) enum Set {
    Integers(BTreeSet<i64>),
    /// Stays so even when what is left are integers.
    Mixed(Fields),
}

/// The most members that stay in the order of numbers.
const MOST_INTEGERS: usize = 512;

impl Default for Set {
    fn default() -> Self {
        Set::Integers(BTreeSet::new())
    }
}

impl Set {
    pub(crate) fn len(&self) -> usize {
        match self {
            Set::Integers(integers) => integers.len(),
            Set::Mixed(members) => members.len(),
        }
    }

    /// Whether Redis keeps it as a plain array of integers, which a scan goes through at once.
    pub(crate) fn is_compact(&self) -> bool {
        matches!(self, Set::Integers(_))
    }

    pub(crate) fn contains(&self, member: &[u8]) -> bool {
        match self {
            Set::Integers(integers) => {
                number::parse_integer(member).is_some_and(|number| integers.contains(&number))
            }
            Set::Mixed(members) => members.get(member).is_some(),
        }
    }

    /// Adds a member and tells whether it is new.
    pub(crate) fn add(&mut self, member: &[u8]) -> bool {
        if let Set::Integers(integers) = self {
            if let Some(number) = number::parse_integer(member) {
                let new = integers.insert(number);
                if integers.len() > MOST_INTEGERS {
                    self.mix();
                }
                return new;
            }
            self.mix();
        }
        match self {
            Set::Mixed(members) => members.set(member, Vec::new()),
            Set::Integers(_) => false,
        }
    }

    fn mix(&mut self) {
        let mut members = Fields::default();
        for member in self.iter() {
            members.set(&member, Vec::new());
        }
        *self = Set::Mixed(members);
    }

    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        match self {
            Set::Integers(integers) => {
                number::parse_integer(member).is_some_and(|number| integers.remove(&number))
            }
            Set::Mixed(members) => members.remove(member),
        }
    }

    pub(crate) fn iter(&self) -> Box<dyn Iterator<Item = Vec<u8>> + '_> {
        match self {
            Set::Integers(integers) => Box::new(
                integers
                    .iter()
                    .map(|number| number.to_string().into_bytes()),
            ),
            Set::Mixed(members) => Box::new(members.iter().map(|(member, _)| member.to_vec())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_INTEGERS, Set};

    fn members(set: &Set) -> Vec<String> {
        let text = |member: Vec<u8>| String::from_utf8_lossy(&member).into_owned();
        set.iter().map(text).collect()
    }

    #[test]
    fn a_text_ends_the_order_of_numbers() {
        let mut set = Set::default();
        for member in ["3", "10", "-5"] {
            assert!(set.add(member.as_bytes()));
        }
        assert!(!set.add(b"3"));
        assert_eq!(members(&set), ["-5", "3", "10"]);
        assert!(!set.contains(b"03") && !set.remove(b"03"));
        assert!(set.add(b"03"));
        assert!(set.add(b"0"));
        assert!(set.remove(b"03"));
        assert_eq!(members(&set), ["-5", "3", "10", "0"]);
    }

    #[test]
    fn so_do_too_many_numbers() {
        let mut set = Set::default();
        for number in (0..MOST_INTEGERS).rev() {
            set.add(number.to_string().as_bytes());
        }
        assert_eq!(members(&set)[0], "0");
        set.add(b"-1");
        set.add(b"-2");
        let members = members(&set);
        assert_eq!((members[0].as_str(), members[513].as_str()), ("-1", "-2"));
    }
}
