//! The mutants of a script: small mistakes of the kind that people make, in the order of its lines.

/// A script with one mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    /// The kind of mistake.
    pub(crate) rule: &'static str,
    /// The line, from 1.
    pub(crate) line: usize,
    /// What is there instead, on one line; empty where it was dropped.
    pub(crate) by: String,
    /// The whole text.
    pub(crate) source: String,
}

/// One text in place of another, wherever it is on a line.
struct Swap {
    rule: &'static str,
    part: &'static str,
    by: &'static str,
}

const fn swap(rule: &'static str, part: &'static str, by: &'static str) -> Swap {
    Swap { rule, part, by }
}

const SWAPS: &[Swap] = &[
    swap(
        "client time",
        "call('TIME')",
        "call('TIME') time[1] = time[1] - 1",
    ),
    swap(
        "client time",
        "call('TIME')",
        "call('TIME') time[1] = time[1] + 1",
    ),
    swap(
        "deadline by one",
        "deadline = now + ARGV[1]",
        "deadline = now + ARGV[1] + 1",
    ),
    swap(
        "deadline by one",
        "deadline = now + ARGV[1]",
        "deadline = now + ARGV[1] - 1",
    ),
    swap("deadline by one", "due = now + ", "due = now + 1 + "),
    swap("deadline by one", "due = now + ", "due = now - 1 + "),
    swap(
        "deadline by one",
        "+ tonumber(ARGV[3])",
        "+ tonumber(ARGV[3]) + 1",
    ),
    swap(
        "deadline by one",
        "+ tonumber(ARGV[3])",
        "+ tonumber(ARGV[3]) - 1",
    ),
    swap("deadline by one", "'-inf', now", "'-inf', now + 1"),
    swap("deadline by one", "'-inf', now", "'-inf', now - 1"),
    swap("deadline by one", "'-inf', now", "'-inf', '(' .. now"),
    swap("deadline by one", "'(' .. ", ""),
    swap(
        "deadline by one",
        "WITHSCORES')[2])",
        "WITHSCORES')[2] - 1)",
    ),
    swap("deadline by one", "by - now", "by - now + 1"),
    swap("deadline by one", "> now", ">= now"),
    swap("marker by one", "math.max(1000, rest", "math.max(0, rest"),
    swap(
        "marker by one",
        "math.min(tonumber(ARGV[3]), ",
        "math.min(0, ",
    ),
    swap("wrong end", "'LPUSH'", "'RPUSH'"),
    swap("wrong end", "'RPUSH'", "'LPUSH'"),
    swap("wrong end", "'LPOP'", "'RPOP'"),
    swap("wrong end", "'RPOP'", "'LPOP'"),
    swap("wrong end", "'RIGHT', 'LEFT'", "'LEFT', 'LEFT'"),
    swap("wrong end", "'RIGHT', 'LEFT'", "'RIGHT', 'RIGHT'"),
    swap("wrong end", "'LINDEX', PENDING, -1", "'LINDEX', PENDING, 0"),
    swap("wrong end", "'LINDEX', KEYS[1], -1", "'LINDEX', KEYS[1], 0"),
    swap(
        "wrong end",
        "PROCESSING, -1, stored",
        "PROCESSING, 1, stored",
    ),
    swap("wrong end", "0, -1 - ", "-1 - "),
    swap("wrong end", "0, -1 - count", "count, -1"),
    swap("wrong end", "-1, -1, 'WITHSCORES'", "0, 0, 'WITHSCORES'"),
    swap(
        "wrong end",
        "KEYS[2], 0, 0, 'WITHSCORES'",
        "KEYS[2], -1, -1, 'WITHSCORES'",
    ),
    swap(
        "wrong end",
        "KEYS[1], 0, ARGV[1] - 1",
        "KEYS[1], -ARGV[1], -1",
    ),
    swap("wrong end", "-count, -1", "0, count - 1"),
    swap("wrong count", "0, -1 - ", "0, -2 - "),
    swap("wrong count", "0, -1 - ", "0, 0 - "),
    swap(
        "wrong count",
        "FIRST_RESULT, FIRST_ID, LIMIT = 10, 4, 100",
        "FIRST_RESULT, FIRST_ID, LIMIT = 10, 4, 1",
    ),
    swap("wrong count", "ARGV[1] - 1)", "ARGV[1])"),
    swap("wrong count", "counts[i] + 1", "counts[i]"),
    swap("wrong count", "count + 1, 0", "count, 0"),
    swap("wrong count", "moved + 1", "moved + 2"),
    swap("wrong count", "claimed + 1", "claimed + 2"),
    swap("wrong count", "reply[1] + 1", "reply[1] + 2"),
    swap("wrong count", "granted + #messages", "granted + 1"),
    swap(
        "wrong count",
        "'INCRBY', COUNTER, #messages",
        "'INCRBY', COUNTER, 1",
    ),
    swap(
        "wrong count",
        "'LPOP', PROCESSING, #messages",
        "'LPOP', PROCESSING",
    ),
    swap("wrong count", "2, #ARGV - 1, 2", "2, #ARGV - 3, 2"),
    swap("wrong count", "1, #KEYS - 4", "1, #KEYS - 5"),
    swap("wrong count", "FIRST_ID + 1", "FIRST_ID + 2"),
    swap("wrong count", "i = 1, 5 do", "i = 1, 4 do"),
    swap(
        "wrong count",
        "'HEXISTS', COUNTS, stored) - 1",
        "'HEXISTS', COUNTS, stored)",
    ),
    swap("wrong count", "count >= limit", "count > limit"),
    swap("wrong count", ">= tonumber(", "> tonumber("),
    swap(
        "wrong count",
        "next_token(last, i)",
        "next_token(last, i - 1)",
    ),
    swap("wrong count", "#record[3] - 2", "#record[3] - 3"),
    swap("wrong answer", "return 0", "return 1"),
    swap("wrong answer", "return 1", "return 0"),
    swap("wrong answer", "return -1", "return 0"),
    swap("wrong answer", ", '1', 'PX'", ", '0', 'PX'"),
    swap("wrong answer", ", '0', 'PX'", ", '1', 'PX'"),
    swap("wrong answer", "fresh and '1' or '0'", "'1'"),
    swap("wrong answer", "return tonumber(answered)", "return 0"),
    swap("wrong answer", "return moved", "return moved + 1"),
    swap(
        "wrong answer",
        "deadline, deliveries, replayed",
        "now, deliveries, replayed",
    ),
    swap("wrong answer", "stored, 1)", "stored, 0)"),
    swap("wrong answer", "stored, 0)", "stored, 1)"),
    swap("wrong answer", "deliveries, 1)", "deliveries, 0)"),
    swap("wrong answer", "or 0, 1)", "or 0, 0)"),
    swap("wrong answer", "or 0, 0)", "or 0, 1)"),
    swap("no condition", "'NX', ", ""),
    swap("and for or", " and ", " or "),
    swap("and for or", " or ", " and "),
    swap("other comparison", " == ", " ~= "),
    swap("other comparison", " ~= ", " == "),
    swap("other comparison", " > 0", " > 1"),
    swap("other comparison", " >= ", " > "),
];

/// What a statement that writes, or that only matters for what it does, begins with.
const STATEMENTS: &[&str] = &[
    "redis.call(",
    "redis.pcall(",
    "call(",
    "try(",
    "attempt(",
    "remove(",
    "step(",
    "record(",
    "add_claim(",
    "add_event(",
    "forget(",
    "answer(",
];

/// All mutants of a script. The same text gives the same list; no two have the same text.
pub(crate) fn mutants(source: &str) -> Vec<Mutant> {
    let lines: Vec<&str> = source.lines().collect();
    let mut all: Vec<Mutant> = Vec::new();
    let mut add = |rule, at: usize, count: usize, by: &[String]| {
        let mut text: Vec<&str> = lines[..at].to_vec();
        text.extend(by.iter().map(String::as_str));
        text.extend(&lines[at + count..]);
        let source = text.join("\n") + "\n";
        if source.lines().ne(lines.iter().copied())
            && all.iter().all(|other| other.source != source)
        {
            let by = by
                .iter()
                .map(|line| line.trim())
                .collect::<Vec<_>>()
                .join("; ");
            all.push(Mutant {
                rule,
                line: at + 1,
                by,
                source,
            });
        }
    };
    // Types are judged in one way everywhere: one mutant for each script.
    let mut judges = true;
    for (at, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        if code.is_empty() || code.starts_with("--") || code.starts_with("local WRONGTYPE") {
            continue;
        }
        if line.contains("return redis.error_reply(WRONGTYPE)") {
            if std::mem::take(&mut judges) {
                add("drop a guard", at, 1, &[]);
            }
            continue;
        }
        if code.contains("call('TYPE'") || code.contains("'none'") {
            continue;
        }
        let indent = &line[..line.len() - code.len()];
        if is_statement(code) {
            add("drop a call", at, 1, &[]);
            if let Some(next) = lines.get(at + 1)
                && next.strip_prefix(indent).is_some_and(is_statement)
            {
                add("swap two calls", at, 2, &[(*next).into(), (*line).into()]);
            }
        }
        conditions(line, at, &mut add);
        if let Some((before, after)) = line.split_once(", 'PX', ")
            && let Some(end) = end_of_argument(after)
        {
            add("omit a TTL", at, 1, &[format!("{before}{}", &after[end..])]);
        }
        if code.starts_with("return ") && lines.get(at + 1).is_some_and(|next| next.trim() == "end")
        {
            add("drop a return", at, 1, &[]);
        }
        for Swap { rule, part, by } in SWAPS {
            for (found, _) in line.match_indices(part) {
                let changed = format!("{}{by}{}", &line[..found], &line[found + part.len()..]);
                add(rule, at, 1, &[changed]);
            }
        }
    }
    all
}

fn is_statement(code: &str) -> bool {
    STATEMENTS.iter().any(|start| code.starts_with(start)) && code.ends_with(')')
}

/// Conditions on one line: dropped with what they guard, always, or the other way round.
fn conditions(line: &str, at: usize, add: &mut impl FnMut(&'static str, usize, usize, &[String])) {
    let Some((start, rest)) = line.split_once("if ") else {
        return;
    };
    if !start.trim().is_empty() && !matches!(start.trim(), "else") {
        return;
    }
    let Some((condition, then)) = rest.split_once(" then") else {
        return;
    };
    if then.ends_with(" end") {
        add("drop a guard", at, 1, &[]);
    } else {
        add(
            "drop a guard",
            at,
            1,
            &[format!("{start}if false then{then}")],
        );
    }
    add(
        "no condition",
        at,
        1,
        &[format!("{start}if true then{then}")],
    );
    add(
        "negate",
        at,
        1,
        &[format!("{start}if not ({condition}) then{then}")],
    );
}

/// Where an argument of a call ends: at a comma or bracket outside of its own brackets.
fn end_of_argument(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ',' if depth == 0 => return Some(at),
            ')' | ']' => depth -= 1,
            _ => {}
        }
    }
    None
}
