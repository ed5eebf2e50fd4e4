//! Expressions of any type.

use super::values::{number, quoted, small, text};
use super::{binary, control, format, tables};
use crate::calls;
use crate::random::Random;
use crate::unordered;

/// `redis.call` or `redis.pcall` of a random command; some of its arguments are numbers.
pub(super) fn call(random: &mut Random) -> String {
    let mut words = calls::call(random);
    // What depends on the clock, on chance or on the order of a hash table is left out.
    while unordered::is_open(&words[0])
        || matches!(
            words[0].to_uppercase().as_str(),
            "TTL" | "PTTL" | "EXPIRETIME" | "PEXPIRETIME"
        )
    {
        words = calls::call(random);
    }
    let name = words[0].to_uppercase();
    let mut arguments = Vec::new();
    for (index, word) in words.iter().enumerate() {
        arguments.push(match random.below(30) {
            0 if !is_lifetime(&name, index) => number(random),
            1 if random.one_in(3) => random.pick(&["nil", "true", "{}"]).to_owned(),
            _ => quoted(word),
        });
    }
    let arguments = arguments.join(", ");
    let function = random.pick(&["redis.call", "redis.pcall", "redis.pcall"]);
    format!("{function}({arguments})")
}

/// Whether an argument may be a time to live, which must not be short: the two clocks differ.
fn is_lifetime(name: &str, index: usize) -> bool {
    match name {
        "SET" | "GETEX" => index > 1,
        "SETEX" | "PSETEX" => index == 2,
        _ => name.contains("EXPIRE"),
    }
}

/// The arguments of `error`.
pub(super) fn message(random: &mut Random) -> String {
    match random.below(10) {
        0 => String::new(),
        1 => "nil".to_owned(),
        2 => number(random),
        3 => "'boom', 0".to_owned(),
        4 => "'boom', 2".to_owned(),
        5 => "{err = 'MYERR x'}".to_owned(),
        6 => "redis.error_reply('thing')".to_owned(),
        7 => format!("{{err = {}}}", text(random)),
        8 => text(random),
        _ => "'two\\nlines'".to_owned(),
    }
}

/// An expression that may be of any type, or fail.
pub(super) fn expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.one_in(6) {
        return match random.below(6) {
            0 => random
                .pick(&["nil", "true", "false", "cjson.null"])
                .to_owned(),
            1 | 2 => number(random),
            3 => text(random),
            _ => quoted(random.pick(&calls::VALUES)),
        };
    }
    let depth = depth - 1;
    match random.below(16) {
        0 | 1 => super::text::expression(random, depth),
        2 => format::expression(random),
        3 => tables::expression(random, depth),
        4 | 5 => binary::expression(random, depth),
        6 | 7 => control::expression(random, depth),
        8 => operation(random, depth),
        9 => mathematics(random),
        10 => table(random, depth),
        11 => json(random, depth),
        12 => library(random, depth),
        13 => name(random),
        _ => call(random),
    }
}

/// An expression whose type is mostly the one that is wanted.
pub(super) fn mostly(random: &mut Random, wanted: fn(&mut Random) -> String) -> String {
    match random.below(8) {
        0 => expression(random, 0),
        _ => wanted(random),
    }
}

fn operation(random: &mut Random, depth: usize) -> String {
    match random.below(8) {
        0 => format!("tostring({})", number(random)),
        1 => format!("({} .. {})", number(random), expression(random, 0)),
        2 => format!("#{}", expression(random, depth)),
        3 => {
            let operator = random.pick(&["+", "-", "*", "/", "%", "^"]);
            format!("({} {operator} {})", expression(random, 0), number(random))
        }
        4 => {
            let operator = random.pick(&["<", "<=", ">", ">=", "==", "~="]);
            format!(
                "({} {operator} {})",
                expression(random, 0),
                expression(random, 0)
            )
        }
        5 => {
            let operator = random.pick(&["and", "or"]);
            let (one, two) = (expression(random, depth), expression(random, depth));
            format!("({one} {operator} {two})")
        }
        6 => format!("(not {})", expression(random, depth)),
        _ => format!("(-{})", expression(random, 0)),
    }
}

fn mathematics(random: &mut Random) -> String {
    let name = random.pick(&[
        "abs", "acos", "atan", "ceil", "cos", "cosh", "deg", "exp", "floor", "frexp", "log",
        "log10", "modf", "rad", "sin", "sqrt", "tan", "tanh",
    ]);
    match random.below(6) {
        0 => {
            let name = random.pick(&["atan2", "fmod", "mod", "pow", "max", "min", "ldexp"]);
            let (one, two) = (mostly(random, number), mostly(random, small));
            format!("{{math.{name}({one}, {two})}}")
        }
        1 => format!(
            "(function() math.randomseed({}) return {{math.random(), math.random({}), \
             math.random({}, {})}} end)()",
            number(random),
            small(random),
            small(random),
            small(random)
        ),
        2 => format!("tonumber({}, {})", text(random), mostly(random, small)),
        3 => format!("tonumber({})", expression(random, 0)),
        _ => format!("{{math.{name}({})}}", mostly(random, number)),
    }
}

fn json(random: &mut Random, depth: usize) -> String {
    match random.below(6) {
        0 => format!("cjson.decode(cjson.encode({}))", table(random, depth)),
        1 => format!("cjson.decode({})", expression(random, 0)),
        2 => {
            let setter = random.pick(&[
                "encode_sparse_array",
                "encode_max_depth",
                "decode_max_depth",
                "encode_number_precision",
                "encode_keep_buffer",
                "encode_invalid_numbers",
                "decode_invalid_numbers",
            ]);
            let argument = random.pick(&[
                "",
                "nil",
                "true",
                "false",
                "'on'",
                "'off'",
                "'null'",
                "'x'",
                "3",
                "14",
                "0",
                "true, 2, 5",
                "1.5",
                "{}",
                "1, 2",
                "1000",
            ]);
            format!("{{cjson.{setter}({argument})}}")
        }
        3 => format!(
            "(function() local c = cjson.new() c.encode_number_precision(4) return c.encode({}) \
             end)()",
            expression(random, depth)
        ),
        _ => format!("cjson.encode({})", expression(random, depth)),
    }
}

fn library(random: &mut Random, depth: usize) -> String {
    match random.below(10) {
        0 => format!("redis.status_reply({})", expression(random, 0)),
        1 => format!("redis.error_reply({})", expression(random, 0)),
        2 => format!("redis.sha1hex({})", expression(random, 0)),
        3 => format!("{{redis.log({}, 'x')}}", expression(random, 0)),
        4 => format!("{{redis.set_repl({})}}", expression(random, 0)),
        5 => format!("{{redis.acl_check_cmd({})}}", expression(random, depth)),
        6 => random
            .pick(&[
                "{redis.setresp(2)}",
                "{redis.setresp(3)}",
                "redis.setresp()",
                "redis.setresp('3')",
                "redis.setresp(4)",
                "{redis.breakpoint()}",
                "{redis.debug(1, 'x', {})}",
                "{redis.replicate_commands()}",
                "redis.log(redis.LOG_WARNING)",
            ])
            .to_owned(),
        7 => format!("type({})", expression(random, depth)),
        8 => format!("{{select({}, 'a', 'b')}}", small(random)),
        _ => format!("select('#', {})", expression(random, depth)),
    }
}

fn name(random: &mut Random) -> String {
    random
        .pick(&[
            "KEYS[1]",
            "ARGV[1]",
            "#ARGV",
            "ARGV[9]",
            "nosuch",
            "redis.nosuch",
            "_G.KEYS",
            "_G.nosuch",
            "_G[1]",
            "_G[true]",
            "rawget(_G, 'x')",
            "rawget(redis, 'REPL_ALL')",
            "redis.call()",
            "string.rep",
            "KEYS.x.y",
            "rawset(redis, 'x', 1)",
            "rawset(_G, 'x', 1)",
            "setmetatable(redis, {})",
            "setmetatable(_G, nil)",
            "getmetatable('').__index == string",
            "getmetatable(redis)",
            "rawequal(_G, _G._G)",
            "next(redis) and 1",
            "next({}) == nil",
            "_VERSION",
            "cmsgpack._VERSION",
            "redis.REDIS_VERSION",
            "collectgarbage('step', 10) ~= nil",
            "collectgarbage('setpause', 200)",
            "collectgarbage('setstepmul', 200)",
            "type(collectgarbage('count'))",
            "collectgarbage('nosuch')",
            "{unpack(redis)}",
            "#redis",
        ])
        .to_owned()
}

/// A table, perhaps of one of the kinds that become replies of RESP3.
pub(super) fn table(random: &mut Random, depth: usize) -> String {
    if random.one_in(6) {
        let inner = table(random, depth.saturating_sub(1));
        return match random.below(6) {
            0 => format!("{{double = {}}}", mostly(random, number)),
            1 => format!("{{map = {inner}}}"),
            2 => format!("{{set = {inner}}}"),
            3 => format!("{{big_number = {}}}", mostly(random, text)),
            4 => format!(
                "{{verbatim_string = {{string = {}, format = {}}}}}",
                mostly(random, text),
                mostly(random, |random| quoted(
                    random.pick(&["txt", "mkd", "t", "texts"])
                ))
            ),
            _ => format!("{{map = {inner}, double = {}}}", number(random)),
        };
    }
    let mut items = Vec::new();
    for _ in 0..random.below(4) {
        let value = expression(random, depth);
        items.push(match random.below(7) {
            0 => format!("{} = {value}", random.pick(&["a", "b", "ok", "err", "x1"])),
            1 => format!(
                "[{}] = {value}",
                random.pick(&["1", "2", "4", "20", "1.5", "'k'", "true"])
            ),
            _ => value,
        });
    }
    format!("{{{}}}", items.join(", "))
}
