//! Clients that wait for streams.

use crate::pair::Pair;
use crate::random::Random;
use crate::steps::Played;

/// The last one never waits, so that there is always somebody to go on.
const LAST: usize = 4;

pub(crate) fn play(pair: &mut Pair, random: &mut Random) -> Played {
    // Calls of transactions that are still to come, by client.
    let mut planned: [Vec<Vec<String>>; LAST + 1] = Default::default();
    for client in 1..=LAST {
        if random.one_in(3) {
            pair.speak_resp3(client)?;
        }
    }
    for step in 0..100 {
        let chosen = 1 + random.below(LAST);
        let client = match pair.is_waiting(chosen) {
            true => LAST,
            false => chosen,
        };
        let words = match planned[client].pop() {
            Some(words) => words,
            None if client != LAST && random.one_in(2) => reading(random),
            None if random.one_in(6) => {
                planned[client].push(vec!["EXEC".to_owned()]);
                for _ in 0..=random.below(3) {
                    planned[client].push(writing(random));
                }
                vec!["MULTI".to_owned()]
            }
            None => writing(random),
        };
        let argv: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
        pair.call_as(client, &argv)?;
        if step % 10 == 9 {
            pair.compare_keys()?;
        }
    }
    Ok(())
}

fn split(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// A call that may wait.
fn reading(random: &mut Random) -> Vec<String> {
    split(random.pick(&[
        "XREAD BLOCK 0 STREAMS k1 $",
        "XREAD BLOCK 0 COUNT 1 STREAMS k1 $",
        "XREAD BLOCK 0 STREAMS k1 k2 $ $",
        "XREAD BLOCK 0 STREAMS k2 k1 3-0 $",
        "XREAD COUNT 2 BLOCK 0 STREAMS k1 9-1",
        "XREADGROUP GROUP g c BLOCK 0 STREAMS k1 >",
        "XREADGROUP GROUP g d BLOCK 0 COUNT 1 STREAMS k1 >",
        "XREADGROUP GROUP g c BLOCK 0 NOACK STREAMS k1 >",
        "XREADGROUP GROUP g c BLOCK 0 STREAMS k1 k2 > >",
        "XREADGROUP GROUP g d BLOCK 0 STREAMS k2 k1 > >",
        "XREADGROUP GROUP h e BLOCK 0 STREAMS k1 >",
        "XREADGROUP GROUP g c BLOCK 0 STREAMS k1 0",
        "xreadgroup GROUP g c BLOCK 0 STREAMS k2 >",
    ]))
}

/// A call that may serve somebody who waits, or looks at what came of it.
fn writing(random: &mut Random) -> Vec<String> {
    let call = random.pick(&[
        "XADD K 1-* a 1",
        "XADD K 2-* a 1",
        "XADD K 3-* a 1",
        "XADD K 9-* a 1",
        "XADD K 9-* a 2",
        "XADD K MAXLEN 0 9-* a 2",
        "XADD K MAXLEN 2 9-* a 2",
        "XGROUP CREATE K g 0",
        "XGROUP CREATE K g $ MKSTREAM",
        "XGROUP CREATE K h 0 MKSTREAM",
        "XGROUP SETID K g 0",
        "XGROUP SETID K g 9-5",
        "XGROUP SETID K g $",
        "XGROUP DESTROY K g",
        "XGROUP DESTROY K h",
        "XGROUP DELCONSUMER K g c",
        "XGROUP CREATECONSUMER K g c",
        "XDEL K 9-0",
        "XDEL K 9-1 9-2 9-3",
        "XTRIM K MAXLEN 0",
        "XTRIM K MAXLEN 1",
        "XSETID K 9-9",
        "XINFO GROUPS K",
        "XINFO STREAM K",
        "XPENDING K g",
        "XREADGROUP GROUP g c STREAMS K >",
        "XREADGROUP GROUP g d COUNT 1 STREAMS K >",
        "XREADGROUP GROUP h c STREAMS K >",
        "XCLAIM K g d 0 9-1 9-2 LASTID 9-2",
        "EVAL redis.call('XADD',KEYS[1],'9-*','a','3')redis.call('XDEL',KEYS[1],'9-4') 1 K",
        "EVAL redis.call('XADD',KEYS[1],'9-*','a','3')return(redis.call('XADD',KEYS[1],'9-*','a','4')) 1 K",
        "FLUSHALL",
    ]);
    split(&call.replace(" K", random.pick(&[" k1", " k1", " k2"])))
}
