//! Sorted sets: unions, intersections and differences of several.

use std::collections::BTreeMap;

use super::{Entry, data};
use crate::arguments::{integer, is, natural};
use crate::number;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::sorted_set::{Score, SortedSet};
use crate::state::State;
use crate::value::Value;

pub(super) const COMMANDS: &[Entry] = &[
    data("zunion", |state, argv| show(state, argv, Operation::Union)),
    data("zinter", |state, argv| {
        show(state, argv, Operation::Intersection)
    }),
    data("zdiff", |state, argv| {
        show(state, argv, Operation::Difference)
    }),
    data("zunionstore", |state, argv| {
        store(state, argv, Operation::Union)
    }),
    data("zinterstore", |state, argv| {
        store(state, argv, Operation::Intersection)
    }),
    data("zdiffstore", |state, argv| {
        store(state, argv, Operation::Difference)
    }),
    data("zintercard", |state, argv| {
        let request = Request::parse(
            state,
            &argv[1..],
            Operation::Intersection,
            Purpose::Count,
            argv[0],
        )?;
        let found = request.combine().len();
        Ok(Reply::count(match request.limit {
            0 => found,
            limit => found.min(limit),
        }))
    }),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Union,
    Intersection,
    Difference,
}

/// What a command does with the result, which decides about its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Show,
    Store,
    Count,
}

/// How the scores of one member in two inputs become one.
#[derive(Debug, Clone, Copy)]
enum Aggregate {
    Sum,
    Min,
    Max,
}

impl Aggregate {
    fn parse(word: &[u8]) -> Result<Self, Refusal> {
        match word {
            word if is(word, "sum") => Ok(Aggregate::Sum),
            word if is(word, "min") => Ok(Aggregate::Min),
            word if is(word, "max") => Ok(Aggregate::Max),
            _ => Err(Refusal::Syntax),
        }
    }

    /// A score that is not a number never wins, and two infinities that cancel out are zero.
    fn of(self, one: f64, two: f64) -> f64 {
        match self {
            Aggregate::Sum => zero_if_nan(one + two),
            Aggregate::Min if two < one => two,
            Aggregate::Max if two > one => two,
            Aggregate::Min | Aggregate::Max => one,
        }
    }
}

fn zero_if_nan(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

type Scores = BTreeMap<Vec<u8>, f64>;

/// The members of a value that may be combined.
fn scores(value: &Value) -> Result<Scores, Refusal> {
    match value {
        Value::SortedSet(set) => {
            let members = set.iter();
            Ok(members
                .map(|(member, score)| (member.to_vec(), score))
                .collect())
        }
        // The members of a set count as if each had the score 1.
        Value::Set(set) => Ok(set.iter().map(|member| (member, 1.0)).collect()),
        _ => Err(Refusal::WrongType),
    }
}

struct Input {
    scores: Scores,
    weight: f64,
}

struct Request {
    operation: Operation,
    inputs: Vec<Input>,
    aggregate: Aggregate,
    with_scores: bool,
    /// The most members to count; 0 for all.
    limit: usize,
}

impl Request {
    /// Reads the number of keys, the keys and the options: the values come before the options,
    /// so that a wrong type is found first.
    fn parse(
        state: &mut State,
        words: &[&[u8]],
        operation: Operation,
        purpose: Purpose,
        command: &[u8],
    ) -> Result<Self, Refusal> {
        let count = integer(words[0])?;
        if count < 1 {
            return Err(Refusal::Line(format!(
                "ERR at least 1 input key is needed for '{}' command",
                String::from_utf8_lossy(command).to_lowercase()
            )));
        }
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let (keys, options) = words[1..].split_at_checked(count).ok_or(Refusal::Syntax)?;
        let mut inputs = Vec::with_capacity(keys.len());
        for key in keys {
            let slot = state.keys.slot(key);
            inputs.push(Input {
                scores: slot.map_or(Ok(Scores::new()), |slot| scores(&slot.value))?,
                weight: 1.0,
            });
        }
        let mut request = Request {
            operation,
            inputs,
            aggregate: Aggregate::Sum,
            with_scores: false,
            limit: 0,
        };
        request.parse_options(options, purpose)?;
        // The smallest comes first, which decides what sums of more than two are rounded to.
        if operation != Operation::Difference {
            request.inputs.sort_by_key(|input| input.scores.len());
        }
        Ok(request)
    }

    fn parse_options(&mut self, words: &[&[u8]], purpose: Purpose) -> Result<(), Refusal> {
        let weighs = self.operation != Operation::Difference && purpose != Purpose::Count;
        let mut rest = words;
        while let [word, after @ ..] = rest {
            rest = match after {
                _ if weighs && is(word, "weights") && after.len() >= self.inputs.len() => {
                    let (weights, after) = after.split_at(self.inputs.len());
                    for (input, weight) in self.inputs.iter_mut().zip(weights) {
                        input.weight = number::parse_score(weight)
                            .ok_or(Refusal::Text("ERR weight value is not a float"))?;
                    }
                    after
                }
                [how, after @ ..] if weighs && is(word, "aggregate") => {
                    self.aggregate = Aggregate::parse(how)?;
                    after
                }
                _ if purpose == Purpose::Show && is(word, "withscores") => {
                    self.with_scores = true;
                    after
                }
                [limit, after @ ..] if purpose == Purpose::Count && is(word, "limit") => {
                    self.limit = natural(limit, "ERR LIMIT can't be negative")?;
                    after
                }
                _ => return Err(Refusal::Syntax),
            };
        }
        Ok(())
    }

    /// The result, lowest score first.
    fn combine(&self) -> Vec<(Vec<u8>, f64)> {
        let Some((first, others)) = self.inputs.split_first() else {
            return Vec::new();
        };
        let found = match self.operation {
            Operation::Union => self.union(),
            Operation::Intersection => self.intersection(first, others),
            Operation::Difference => {
                let is_left = |member: &&Vec<u8>| {
                    !others
                        .iter()
                        .any(|other| other.scores.contains_key(*member))
                };
                let members = first.scores.iter();
                let left = members.filter(|(member, _)| is_left(member));
                left.map(|(member, score)| (member.clone(), *score))
                    .collect()
            }
        };
        let mut found: Vec<_> = found.into_iter().collect();
        // Equal scores stay in the order of their members.
        found.sort_by_key(|(_, score)| Score(*score));
        found
    }

    fn union(&self) -> Scores {
        let mut union = Scores::new();
        for input in &self.inputs {
            for (member, score) in &input.scores {
                let score = zero_if_nan(input.weight * score);
                match union.get_mut(member) {
                    Some(sum) => *sum = self.aggregate.of(*sum, score),
                    None => drop(union.insert(member.clone(), score)),
                }
            }
        }
        union
    }

    fn intersection(&self, first: &Input, others: &[Input]) -> Scores {
        let in_all = |(member, score): (&Vec<u8>, &f64)| {
            let mut sum = zero_if_nan(first.weight * score);
            for other in others {
                sum = self
                    .aggregate
                    .of(sum, other.weight * other.scores.get(member)?);
            }
            Some((member.clone(), sum))
        };
        first.scores.iter().filter_map(in_all).collect()
    }
}

fn show(state: &mut State, argv: &[&[u8]], operation: Operation) -> Answer {
    let request = Request::parse(state, &argv[1..], operation, Purpose::Show, argv[0])?;
    let found = request.combine().into_iter();
    let shape = state.shape();
    Ok(match request.with_scores {
        true => {
            shape.pairs(found.map(|(member, score)| (Reply::Bulk(member), shape.double(score))))
        }
        false => Reply::bulks(found.map(|(member, _)| member)),
    })
}

fn store(state: &mut State, argv: &[&[u8]], operation: Operation) -> Answer {
    let request = Request::parse(state, &argv[2..], operation, Purpose::Store, argv[0])?;
    let found = request.combine();
    let reply = Reply::count(found.len());
    state
        .keys
        .store(argv[1], Value::SortedSet(SortedSet::of(found)));
    Ok(reply)
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    fn filled() -> TestServer {
        let mut server = TestServer::new();
        server.run("ZADD a 1 x 2 y 3 z");
        server.run("ZADD b 10 y 20 z 30 w");
        server
    }

    #[test]
    fn combining() {
        let mut server = filled();
        for (command, reply) in [
            ("ZUNION 2 a b", "*4 $1 x $1 y $1 z $1 w"),
            ("ZINTER 2 a b WITHSCORES", "*4 $1 y $2 12 $1 z $2 23"),
            ("ZDIFF 2 a b WITHSCORES", "*2 $1 x $1 1"),
            ("ZDIFF 2 none a", "*0"),
            ("ZINTERCARD 2 a b", ":2"),
            ("ZINTERCARD 2 a b LIMIT 1", ":1"),
            ("ZINTERCARD 2 a none", ":0"),
            (
                "ZINTER 2 a b WEIGHTS 2 0.5 AGGREGATE MAX WITHSCORES",
                "*4 $1 y $1 5 $1 z $2 10",
            ),
            (
                "ZUNION 2 a b aggregate min withscores",
                "*8 $1 x $1 1 $1 y $1 2 $1 z $1 3 $1 w $2 30",
            ),
            ("ZUNIONSTORE t 2 a b WEIGHTS 0 1", ":4"),
            ("ZSCORE t x", "$1 0"),
            ("ZINTERSTORE t 2 a none", ":0"),
            ("EXISTS t", ":0"),
            ("ZDIFFSTORE a 2 a b", ":1"),
            ("ZRANGE a 0 -1", "*1 $1 x"),
        ] {
            server.expect(command, reply);
        }
        server.run("HELLO 3");
        server.expect("ZDIFF 1 a WITHSCORES", "*1 *2 $1 x ,1");
    }

    #[test]
    fn what_is_not_a_number_is_zero() {
        let mut server = TestServer::new();
        server.run("ZADD a inf x 0 y");
        server.run("ZADD b -inf x 0 y");
        for (command, reply) in [
            ("ZUNION 2 a b WITHSCORES", "*4 $1 x $1 0 $1 y $1 0"),
            ("ZINTER 1 a WEIGHTS 0 WITHSCORES", "*4 $1 x $1 0 $1 y $1 0"),
            (
                "ZINTER 2 a b WEIGHTS 1 0 AGGREGATE MIN WITHSCORES",
                "*4 $1 y $1 0 $1 x $3 inf",
            ),
            (
                "ZUNION 1 b WEIGHTS -1 WITHSCORES",
                "*4 $1 y $2 -0 $1 x $3 inf",
            ),
            ("ZUNIONSTORE t 1 b WEIGHTS -1", ":2"),
            ("ZSCORE t y", "$1 0"),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn refusals() {
        let mut server = filled();
        server.run("SET s v");
        for (command, reply) in [
            (
                "ZUNION 0 a",
                "-ERR at least 1 input key is needed for 'zunion' command",
            ),
            (
                "ZDIFFSTORE t -1 a",
                "-ERR at least 1 input key is needed for 'zdiffstore' command",
            ),
            ("ZUNION x a", "-ERR value is not an integer or out of range"),
            ("ZUNION 2 a", "-ERR syntax error"),
            (
                "ZUNION 1 s BOGUS",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            ("ZUNION 1 a WEIGHTS x", "-ERR weight value is not a float"),
            ("ZUNION 2 a b WEIGHTS 1", "-ERR syntax error"),
            ("ZUNION 1 a AGGREGATE AVG", "-ERR syntax error"),
            ("ZDIFF 1 a WEIGHTS 1", "-ERR syntax error"),
            ("ZUNIONSTORE t 1 a WITHSCORES", "-ERR syntax error"),
            ("ZINTERCARD 1 a WITHSCORES", "-ERR syntax error"),
            ("ZINTERCARD 1 a LIMIT -1", "-ERR LIMIT can't be negative"),
            ("ZINTERCARD 1 a LIMIT x", "-ERR LIMIT can't be negative"),
        ] {
            server.expect(command, reply);
        }
    }
}
