//! The longest text that two strings have in common, with gaps.

use super::{Entry, data};
use crate::arguments::{integer, is};
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;
use crate::text::Text;

pub(super) const COMMANDS: &[Entry] = &[data("lcs", common)];

/// The largest table, in bytes, that Redis makes for the comparison.
const LARGEST_TABLE: usize = 512 * 1024 * 1024;

#[derive(Debug, Default)]
struct Options {
    length_only: bool,
    places: bool,
    with_lengths: bool,
    shortest: usize,
}

impl Options {
    fn parse(words: &[&[u8]]) -> Result<Self, Refusal> {
        let mut found = Options::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            if is(word, "len") {
                found.length_only = true;
            } else if is(word, "idx") {
                found.places = true;
            } else if is(word, "withmatchlen") {
                found.with_lengths = true;
            } else if is(word, "minmatchlen") {
                let shortest = integer(words.next().ok_or(Refusal::Syntax)?)?;
                found.shortest = usize::try_from(shortest).unwrap_or(0);
            } else {
                return Err(Refusal::Syntax);
            }
        }
        match found.length_only && found.places {
            true => Err(Refusal::Text(
                "ERR If you want both the length and indexes, please just use IDX.",
            )),
            false => Ok(found),
        }
    }
}

fn common(state: &mut State, argv: &[&[u8]]) -> Answer {
    let mut text = |key| match state.keys.find::<Text>(key) {
        Ok(text) => Ok(text.map(|text| text.to_bytes()).unwrap_or_default()),
        Err(_) => Err(Refusal::Text(
            "ERR The specified keys must contain string values",
        )),
    };
    let (one, two) = (text(argv[1])?, text(argv[2])?);
    let options = Options::parse(&argv[3..])?;
    let table = Table::new(&one, &two)?;
    if options.length_only {
        return Ok(Reply::count(table.length(one.len(), two.len())));
    }
    let runs = table.runs(&one, &two);
    if !options.places {
        let parts = runs.iter().rev();
        let parts: Vec<&[u8]> = parts
            .filter_map(|run| one.get(run.one..run.one + run.length))
            .collect();
        return Ok(Reply::bulk(parts.concat()));
    }
    let matches = runs.iter().filter(|run| run.length >= options.shortest);
    let matches = matches.map(|run| run.show(options.with_lengths)).collect();
    Ok(state.shape().map([
        (Reply::bulk("matches"), Reply::Array(matches)),
        (
            Reply::bulk("len"),
            Reply::count(table.length(one.len(), two.len())),
        ),
    ]))
}

/// Bytes that follow each other in both texts, and where they begin.
struct Run {
    one: usize,
    two: usize,
    length: usize,
}

impl Run {
    fn show(&self, with_length: bool) -> Reply {
        let range = |start: usize| {
            let end = start + self.length - 1;
            Reply::Array(vec![Reply::count(start), Reply::count(end)])
        };
        let mut parts = vec![range(self.one), range(self.two)];
        if with_length {
            parts.push(Reply::count(self.length));
        }
        Reply::Array(parts)
    }
}

/// How much the beginnings of two texts have in common, for all lengths of both.
struct Table {
    lengths: Vec<u32>,
    width: usize,
}

impl Table {
    fn new(one: &[u8], two: &[u8]) -> Result<Self, Refusal> {
        let width = two.len() + 1;
        let size = (one.len() + 1).saturating_mul(width);
        if size.saturating_mul(size_of::<u32>()) > LARGEST_TABLE {
            return Err(Refusal::Text(
                "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len",
            ));
        }
        let mut lengths = vec![0; size];
        for (row, byte) in one.iter().enumerate() {
            for (column, other) in two.iter().enumerate() {
                let above = row * width + column;
                let here = above + width + 1;
                lengths[here] = match byte == other {
                    true => lengths[above] + 1,
                    false => lengths[above + 1].max(lengths[here - 1]),
                };
            }
        }
        Ok(Table { lengths, width })
    }

    fn length(&self, one: usize, two: usize) -> usize {
        self.lengths[one * self.width + two] as usize
    }

    /// What the texts have in common, the last run first.
    fn runs(&self, one: &[u8], two: &[u8]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let (mut row, mut column) = (one.len(), two.len());
        while row > 0 && column > 0 {
            if one[row - 1] != two[column - 1] {
                match self.length(row - 1, column) > self.length(row, column - 1) {
                    true => row -= 1,
                    false => column -= 1,
                }
                continue;
            }
            match runs.last_mut() {
                Some(run) if (run.one, run.two) == (row, column) => {
                    (run.one, run.two) = (row - 1, column - 1);
                    run.length += 1;
                }
                _ => runs.push(Run {
                    one: row - 1,
                    two: column - 1,
                    length: 1,
                }),
            }
            (row, column) = (row - 1, column - 1);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use crate::Protocol;
    use crate::test_server::TestServer;

    #[test]
    fn forms() {
        let mut server = TestServer::new();
        server.run("MSET a ohmytext b mynewtext c aaaa d aabaa");
        server.run("RPUSH l x");
        let not_text = "-ERR The specified keys must contain string values";
        for (command, reply) in [
            ("LCS a b", "$6 mytext"),
            ("LCS a b LEN", ":6"),
            (
                "LCS a b IDX",
                "*4 $7 matches *2 *2 *2 :4 :7 *2 :5 :8 *2 *2 :2 :3 *2 :0 :1 $3 len :6",
            ),
            (
                "LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN",
                "*4 $7 matches *1 *3 *2 :4 :7 *2 :5 :8 :4 $3 len :6",
            ),
            (
                "LCS d c IDX",
                "*4 $7 matches *2 *2 *2 :3 :4 *2 :2 :3 *2 *2 :0 :1 *2 :0 :1 $3 len :4",
            ),
            ("LCS a b MINMATCHLEN 30", "$6 mytext"),
            ("LCS none a", "$0 "),
            ("LCS none a IDX", "*4 $7 matches *0 $3 len :0"),
            ("LCS l none FOO", not_text),
            ("LCS none l", not_text),
            (
                "LCS a b LEN IDX",
                "-ERR If you want both the length and indexes, please just use IDX.",
            ),
            (
                "LCS a b MINMATCHLEN x",
                "-ERR value is not an integer or out of range",
            ),
            ("LCS a b MINMATCHLEN", "-ERR syntax error"),
            ("LCS a b FOO", "-ERR syntax error"),
        ] {
            server.expect(command, reply);
        }
        server.run("HELLO 3");
        let reply = server.run("LCS none a IDX").to_bytes(Protocol::Resp3);
        assert_eq!(reply, b"%2\r\n$7\r\nmatches\r\n*0\r\n$3\r\nlen\r\n:0\r\n");
    }
}
