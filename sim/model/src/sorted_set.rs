//! A sorted set: members by score, equal scores by the members' bytes.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::map::Map;

use crate::lex_range::LexRange;

/// A score. Never NaN: the commands refuse it before it gets here. The two zeros are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Score(pub(crate) f64);

impl Eq for Score {}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.partial_cmp(&other.0).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One end of a range of scores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) score: f64,
    pub(crate) exclusive: bool,
}

/// The scores from `min` to `max`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoreRange {
    pub(crate) min: Bound,
    pub(crate) max: Bound,
}

impl ScoreRange {
    fn is_above_min(&self, score: f64) -> bool {
        score > self.min.score || (score == self.min.score && !self.min.exclusive)
    }

    fn is_below_max(&self, score: f64) -> bool {
        score < self.max.score || (score == self.max.score && !self.max.exclusive)
    }
}

/// The most members, and the longest, of a set in Redis' compact encoding.
const COMPACT_LENGTH: usize = 128;
const COMPACT_MEMBER: usize = 64;

/// The members of a sorted set, by name and by rank.
#[derive(Debug, Default, Clone)]
pub(crate) struct SortedSet {
    /// Only looked up, never iterated.
    scores: Map<Vec<u8>, f64>,
    ranked: BTreeSet<(Score, Vec<u8>)>,
    /// Whether it has outgrown the compact encoding, which it never goes back to.
    large: bool,
}

impl SortedSet {
    pub(crate) fn len(&self) -> usize {
        self.ranked.len()
    }

    pub(crate) fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).copied()
    }

    /// Whether Redis keeps it in the compact encoding: all in one piece, and without negative
    /// zeros.
    pub(crate) fn is_compact(&self) -> bool {
        !self.large
    }

    /// Sets the score of a member.
    pub(crate) fn set(&mut self, member: &[u8], score: f64) {
        let old = self.scores.get(member).copied();
        if let Some(old) = old {
            self.ranked.remove(&(Score(old), member.to_vec()));
        } else {
            self.large |= self.len() >= COMPACT_LENGTH || member.len() > COMPACT_MEMBER;
        }
        let score = if self.large { score } else { score + 0.0 };
        self.scores.insert(member.to_vec(), score);
        self.ranked.insert((Score(score), member.to_vec()));
    }

    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        match self.scores.remove(member) {
            Some(score) => self.ranked.remove(&(Score(score), member.to_vec())),
            None => false,
        }
    }

    /// Members from the lowest score to the highest, or backwards from the other end.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], f64)> {
        self.ranked
            .iter()
            .map(|(score, member)| (member.as_slice(), score.0))
    }

    /// As [`SortedSet::iter`], only what lies in `range`. Starts at the range, not at the end of
    /// the set: looking for the few expired leases of many is the common call.
    pub(crate) fn range(&self, range: ScoreRange) -> impl DoubleEndedIterator<Item = (&[u8], f64)> {
        // An empty member sorts before every other, so these two enclose the scores.
        let from = (Score(range.min.score + 0.0), Vec::new());
        let members = if range.min.score > range.max.score {
            self.ranked.range(from.clone()..from)
        } else {
            let beyond = (Score((range.max.score + 0.0).next_up()), Vec::new());
            match range.max.score == f64::INFINITY {
                true => self.ranked.range(from..),
                false => self.ranked.range(from..beyond),
            }
        };
        members
            .map(|(score, member)| (member.as_slice(), score.0))
            .filter(move |(_, score)| range.is_above_min(*score) && range.is_below_max(*score))
    }

    /// The members in a range of their bytes, without the first `skipped`. That makes sense where
    /// all scores are equal. Where they are not, this finds what a walk along the ranks finds,
    /// which is how Redis looks into a small set.
    pub(crate) fn lex_range<'a>(
        &'a self,
        range: LexRange<'a>,
        reversed: bool,
        skipped: usize,
    ) -> Box<dyn Iterator<Item = (&'a [u8], f64)> + 'a> {
        let (first, last) = (self.ranked.first(), self.ranked.last());
        let overlaps = !range.is_empty()
            && last.is_some_and(|(_, member)| range.is_above_min(member))
            && first.is_some_and(|(_, member)| range.is_below_max(member));
        let is_near = move |member: &[u8]| match reversed {
            true => range.is_below_max(member),
            false => range.is_above_min(member),
        };
        let is_far = move |member: &[u8]| match reversed {
            true => !range.is_above_min(member),
            false => !range.is_below_max(member),
        };
        let members = self.walk(reversed);
        let mut members = members
            .skip_while(move |(member, _)| !is_near(member))
            .peekable();
        let starts_within = members.peek().is_some_and(|(member, _)| !is_far(member));
        if !overlaps || !starts_within {
            return Box::new(std::iter::empty());
        }
        Box::new(
            members
                .skip(skipped)
                .take_while(move |(member, _)| !is_far(member)),
        )
    }

    /// As [`SortedSet::iter`], or backwards.
    pub(crate) fn walk(&self, reversed: bool) -> Box<dyn Iterator<Item = (&[u8], f64)> + '_> {
        match reversed {
            true => Box::new(self.iter().rev()),
            false => Box::new(self.iter()),
        }
    }

    /// A set of members that are different from each other.
    pub(crate) fn of(members: Vec<(Vec<u8>, f64)>) -> Self {
        let mut set = SortedSet {
            large: members.len() > COMPACT_LENGTH
                || members
                    .iter()
                    .any(|(member, _)| member.len() > COMPACT_MEMBER),
            ..SortedSet::default()
        };
        for (member, score) in &members {
            set.set(member, *score);
        }
        set
    }

    /// How many members come before `member`.
    pub(crate) fn rank(&self, member: &[u8]) -> Option<usize> {
        let score = self.score(member)?;
        Some(self.ranked.range(..(Score(score), member.to_vec())).count())
    }

    /// Takes the member with the lowest score, or with the highest.
    pub(crate) fn pop(&mut self, highest: bool) -> Option<(Vec<u8>, f64)> {
        let (score, member) = if highest {
            self.ranked.pop_last()?
        } else {
            self.ranked.pop_first()?
        };
        self.scores.remove(&member);
        Some((member, score.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names<'a>(members: impl Iterator<Item = (&'a [u8], f64)>) -> Vec<&'a [u8]> {
        members.map(|(member, _)| member).collect()
    }

    fn between(min: f64, max: f64, exclusive: (bool, bool)) -> ScoreRange {
        ScoreRange {
            min: Bound {
                score: min,
                exclusive: exclusive.0,
            },
            max: Bound {
                score: max,
                exclusive: exclusive.1,
            },
        }
    }

    #[test]
    fn ranges_respect_their_ends() {
        let mut set = SortedSet::default();
        for (member, score) in [
            ("c", 3.0),
            ("b", 1.0),
            ("", 1.0),
            ("z", -0.0),
            ("i", f64::INFINITY),
        ] {
            set.set(member.as_bytes(), score);
        }
        assert_eq!(names(set.iter()), [&b"z"[..], b"", b"b", b"c", b"i"]);
        let all = between(f64::NEG_INFINITY, f64::INFINITY, (false, false));
        assert_eq!(set.range(all).count(), 5);
        assert_eq!(
            names(set.range(between(0.0, 1.0, (false, false)))),
            [&b"z"[..], b"", b"b"]
        );
        assert_eq!(
            names(set.range(between(-0.0, 1.0, (true, false)))),
            [&b""[..], b"b"]
        );
        assert_eq!(
            names(set.range(between(1.0, 3.0, (true, true)))),
            [&b""[..]; 0]
        );
        assert_eq!(set.range(between(3.0, 1.0, (false, false))).count(), 0);
        assert_eq!(
            names(set.range(between(1.0, f64::INFINITY, (true, true))).rev()),
            [b"c"]
        );
    }

    #[test]
    fn a_new_score_moves_the_member() {
        let mut set = SortedSet::default();
        set.set(b"a", 1.0);
        set.set(b"b", 2.0);
        set.set(b"a", 3.0);
        assert_eq!(
            (set.len(), set.rank(b"a"), set.rank(b"x")),
            (2, Some(1), None)
        );
        assert_eq!(set.pop(false), Some((b"b".to_vec(), 2.0)));
        assert!(set.remove(b"a"));
        assert!(!set.remove(b"a"));
        assert_eq!(set.pop(true), None);
    }

    #[test]
    fn a_large_set_keeps_negative_zeros() {
        let mut set = SortedSet::default();
        set.set(b"a", -0.0);
        assert!(set.is_compact() && set.score(b"a").is_some_and(f64::is_sign_positive));
        set.set(&[b'l'; 65], 1.0);
        set.set(b"b", -0.0);
        assert!(!set.is_compact() && set.score(b"b").is_some_and(f64::is_sign_negative));
        assert_eq!(names(set.iter())[..2], [b"a", b"b"]);
        set.remove(&[b'l'; 65]);
        set.set(b"c", -0.0);
        assert!(set.score(b"c").is_some_and(f64::is_sign_negative));
        let stored = SortedSet::of(vec![(b"a".to_vec(), -0.0), (vec![b'l'; 65], 1.0)]);
        assert!(stored.score(b"a").is_some_and(f64::is_sign_negative));
    }

    #[test]
    fn lexical_ranges_walk_along_the_ranks() {
        let mut set = SortedSet::default();
        for (member, score) in [("c", 0.0), ("a", 1.0), ("d", 2.0), ("b", 3.0)] {
            set.set(member.as_bytes(), score);
        }
        let found = |min: &str, max: &str, reversed, skipped| {
            let range = LexRange::parse(min.as_bytes(), max.as_bytes()).unwrap();
            let found = set.lex_range(range, reversed, skipped);
            String::from_utf8(found.flat_map(|(member, _)| member.to_vec()).collect()).unwrap()
        };
        assert_eq!(found("-", "+", false, 0), "cadb");
        assert_eq!(found("-", "[c", false, 0), "ca");
        assert_eq!(found("-", "[b", false, 0), "");
        assert_eq!(found("-", "+", true, 1), "dac");
        assert_eq!(found("[b", "+", true, 0), "bd");
        assert_eq!(found("[c", "+", false, 0), "");
    }
}
