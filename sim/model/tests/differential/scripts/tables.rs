//! The functions of `table`, and the others that work on tables.

use super::expressions::{expression as any, mostly, table};
use super::values::small;
use crate::random::Random;

pub(super) fn expression(random: &mut Random, depth: usize) -> String {
    let subject = match random.below(10) {
        0 => any(random, depth),
        1 => random.pick(&["redis", "_G", "KEYS", "string"]).to_owned(),
        2 => "{3, 1, 2, 5, 4}".to_owned(),
        3 => "{'b', 'a', 'c'}".to_owned(),
        _ => table(random, depth),
    };
    match random.below(14) {
        0 => format!("table.concat({subject})"),
        1 => format!(
            "table.concat({subject}, ',', {}, {})",
            mostly(random, small),
            mostly(random, small)
        ),
        2 => changed(&subject, &format!("table.insert(s, {})", any(random, 0))),
        3 => {
            // From a place such as -2^31 on Redis moves two thousand million elements.
            let (place, value) = (small(random), any(random, 0));
            changed(&subject, &format!("table.insert(s, {place}, {value})"))
        }
        4 => changed(&subject, "s[9] = table.remove(s)"),
        5 => {
            let place = mostly(random, small);
            changed(&subject, &format!("s[9] = table.remove(s, {place})"))
        }
        6 => changed(&subject, "table.sort(s)"),
        7 => {
            let order = random.pick(&[
                "function(a, b) return a > b end",
                "function(a, b) return true end",
                "function(a, b) error('no', 0) end",
                "math.max",
                "rawequal",
                "string.rep",
                "nil",
                "1",
            ]);
            changed(&subject, &format!("table.sort(s, {order})"))
        }
        8 => format!("table.maxn({subject})"),
        9 => format!("table.getn({subject})"),
        10 => {
            let name = random.pick(&["foreach", "foreachi"]);
            format!("{{table.{name}({subject}, function(k, v) if v then return k end end)}}")
        }
        11 => {
            let (from, to) = (mostly(random, small), mostly(random, small));
            format!("{{unpack({subject}, {from}, {to})}}")
        }
        12 => format!("{{unpack({subject})}}"),
        _ => format!(
            "(function() local n = 0 for k, v in pairs({subject}) do n = n + 1 end return n end)()"
        ),
    }
}

/// A table after something was done to it. The order of the names in large tables is its own.
fn changed(subject: &str, change: &str) -> String {
    format!(
        "(function() local s = {subject} {change} return (s == _G or s == redis) and 1 or s end)()"
    )
}
