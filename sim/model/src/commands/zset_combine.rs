//! Sorted sets: unions, intersections and differences of several.

use super::combine_request::{Input, Operation, Purpose, Request, Scores, zero_if_nan};
use super::{Entry, data};
use crate::refusal::Answer;
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

impl Request {
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
        server.run("SADD s x y");
        server.expect("ZUNION 2 a s WITHSCORES", "*4 $1 y $1 1 $1 x $1 2");
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
}
