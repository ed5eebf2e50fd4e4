//! What `ZUNION`, `ZINTER`, `ZDIFF` and their relatives are called with.

use std::collections::BTreeMap;

use crate::arguments::{integer, is, natural};
use crate::number;
use crate::refusal::Refusal;
use crate::state::State;
use crate::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Union,
    Intersection,
    Difference,
}

/// What a command does with the result, which decides about its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Show,
    Store,
    Count,
}

/// How the scores of one member in two inputs become one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Aggregate {
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
    pub(super) fn of(self, one: f64, two: f64) -> f64 {
        match self {
            Aggregate::Sum => zero_if_nan(one + two),
            Aggregate::Min if two < one => two,
            Aggregate::Max if two > one => two,
            Aggregate::Min | Aggregate::Max => one,
        }
    }
}

pub(super) fn zero_if_nan(score: f64) -> f64 {
    if score.is_nan() { 0.0 } else { score }
}

pub(super) type Scores = BTreeMap<Vec<u8>, f64>;

/// The members of a value that may be combined. Those of a plain set count one each.
fn scores(value: &Value) -> Result<Scores, Refusal> {
    match value {
        Value::SortedSet(set) => {
            let members = set.iter();
            Ok(members
                .map(|(member, score)| (member.to_vec(), score))
                .collect())
        }
        Value::Set(set) => Ok(set.iter().map(|member| (member, 1.0)).collect()),
        _ => Err(Refusal::WrongType),
    }
}

/// One of the values to combine.
pub(super) struct Input {
    pub(super) scores: Scores,
    pub(super) weight: f64,
}

/// A call, read: the values and how they become one.
pub(super) struct Request {
    pub(super) operation: Operation,
    pub(super) inputs: Vec<Input>,
    pub(super) aggregate: Aggregate,
    pub(super) with_scores: bool,
    /// The most members to count; 0 for all.
    pub(super) limit: usize,
}

impl Request {
    /// Reads the number of keys, the keys and the options: the values come before the options,
    /// so that a wrong type is found first.
    pub(super) fn parse(
        state: &mut State,
        words: &[&[u8]],
        operation: Operation,
        purpose: Purpose,
        command: &[u8],
    ) -> Result<Self, Refusal> {
        let count = integer(words[0])?;
        if count < 1 {
            return Err(Refusal::line(&[
                &"ERR at least 1 input key is needed for '",
                &command.to_ascii_lowercase(),
                &"' command",
            ]));
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
}

#[cfg(test)]
mod tests {
    use crate::test_server::TestServer;

    #[test]
    fn refusals() {
        let mut server = TestServer::new();
        server.run("ZADD a 1 x 2 y 3 z");
        server.run("ZADD b 10 y 20 z 30 w");
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
