//! Times to live: absolute ones in the past and in the future, and short ones that end.

use crate::pair::Pair;
use crate::random::Random;
use crate::steps::Played;
use crate::times::now_ms;

const KEYS: [&str; 4] = ["k1", "k2", "k3", "k4"];
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

pub(crate) fn play(pair: &mut Pair, random: &mut Random) -> Played {
    for step in 0..100 {
        let text = match random.below(12) {
            0 => format!("SET {} v PX 1", random.pick(&KEYS)),
            1 => format!("PEXPIRE {} 1", random.pick(&KEYS)),
            _ => call(random),
        };
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        pair.call_words(&words)?;
        // A short time to live ends before anything else happens, on both servers.
        if text.ends_with(" 1") {
            pair.pause();
        }
        if step % 20 == 19 {
            pair.compare_keys()?;
        }
    }
    Ok(())
}

fn call(random: &mut Random) -> String {
    let key = random.pick(&KEYS);
    let other = random.pick(&KEYS);
    let option = random.pick(&["", "", "", " NX", " XX", " GT", " LT", " GT XX"]);
    match random.below(24) {
        0 => format!("SET {key} v"),
        1 => format!("RPUSH {key} a b"),
        2 => format!("SET {key} w KEEPTTL"),
        3 => format!("SET {key} v PXAT {}", instant_ms(random)),
        4 => format!("SET {key} v EXAT {}", instant_ms(random) / 1000),
        5 | 6 => format!("PEXPIREAT {key} {}{option}", instant_ms(random)),
        7 => format!("EXPIREAT {key} {}{option}", instant_ms(random) / 1000),
        8 => format!("EXPIRE {key} {}{option}", lifetime_seconds(random)),
        9 => format!("PEXPIRE {key} {}000{option}", lifetime_seconds(random)),
        10 => format!("PERSIST {key}"),
        11 => format!("RENAME {key} {other}"),
        12 => format!("RENAMENX {key} {other}"),
        13 => format!("GETSET {key} x"),
        14 => format!("APPEND {key} y"),
        15 => format!("LPOP {key} 2"),
        16 => format!("DEL {key}"),
        17 => format!("EXISTS {key} {other}"),
        18 => format!("TYPE {key}"),
        19 => format!("PTTL {key}"),
        20 => format!("TTL {key}"),
        21 => format!("PEXPIRETIME {key}"),
        22 => format!("EXPIRETIME {key}"),
        _ => format!("RPOPLPUSH {key} {other}"),
    }
}

/// Hours or days from now, one way or the other; seldom the same twice.
fn instant_ms(random: &mut Random) -> i64 {
    let away = (1 + random.below(1000)) as i64 * DAY_MS / 24 + random.below(1000) as i64;
    match random.below(3) {
        0 => now_ms() - away,
        _ => now_ms() + away,
    }
}

fn lifetime_seconds(random: &mut Random) -> i64 {
    match random.below(4) {
        0 => -(random.below(100) as i64),
        _ => 1000 + 100 * random.below(100_000) as i64,
    }
}
