//! A queue that has long been in trouble: thousands of messages at once, written as the scripts
//! would have left them. Published one by one they would take a recipe minutes.

use crate::view::Part;
use crate::world::World;

/// Messages of one command.
const CHUNK: usize = 500;

pub(super) fn inject(world: &mut World, queue: u32, hundreds: u32, state: u32) {
    let queue = queue as usize;
    if queue >= world.settings.queues as usize
        || world.covered.iter().any(|(of, _)| *of == queue)
        || state > 0 && !world.settings.leased()
    {
        return;
    }
    let first_token = world.views[queue].counter + 1;
    let stored: Vec<Vec<u8>> = (0..hundreds * 100)
        .map(|_| {
            let number = world.names.payloads();
            let payload = format!("m{number}");
            let stored =
                format!("\u{1e}RMQ1:{{\"id\":\"fill{number}\",\"payload\":\"{payload}\"}}");
            world.accept(queue, payload.into_bytes());
            stored.into_bytes()
        })
        .collect();
    let mut token = first_token;
    for chunk in stored.chunks(CHUNK) {
        let tokens: Vec<String> = (token..)
            .take(chunk.len())
            .map(|token| token.to_string())
            .collect();
        token += chunk.len() as u64;
        let list = if state == 0 {
            Part::Pending
        } else {
            Part::Processing
        };
        write(
            world,
            queue,
            "LPUSH",
            list,
            chunk.iter().map(|stored| vec![stored.clone()]),
        );
        if state == 0 {
            continue;
        }
        let due = (world.server_ms() - 1).to_string().into_bytes();
        let pairs = || chunk.iter().zip(&tokens);
        let leases = pairs().map(|(stored, _)| vec![due.clone(), stored.clone()]);
        write(world, queue, "ZADD", Part::Deadlines, leases);
        let current = pairs().map(|(stored, token)| vec![stored.clone(), token.clone().into()]);
        write(world, queue, "HSET", Part::Tokens, current);
        if state == 2 {
            // Their records outlive what they speak of; their keys have ended.
            let id = |token: &String| format!("filled{token}");
            let refs = tokens.iter().map(|token| {
                let key = format!("q{queue}::processing:claim_result:{}", id(token));
                vec![token.clone().into(), key.into()]
            });
            write(world, queue, "HSET", Part::Refs, refs);
            let records = pairs().map(|(stored, token)| {
                let stored = String::from_utf8_lossy(stored);
                let record = serde_json::json!([stored, token]).to_string();
                vec![id(token).into(), record.into()]
            });
            write(world, queue, "HSET", Part::Ids, records);
            let back = tokens
                .iter()
                .map(|token| vec![token.clone().into(), id(token).into()]);
            write(world, queue, "HSET", Part::Backrefs, back);
        }
    }
    if state > 0 {
        let drawn = (token - first_token).to_string();
        let counter = Part::Counter.key(queue);
        world.administer(&[b"INCRBY", counter.as_bytes(), drawn.as_bytes()]);
    }
    world.forget_states();
    world.look_again();
}

fn write(
    world: &mut World,
    queue: usize,
    command: &str,
    part: Part,
    items: impl Iterator<Item = Vec<Vec<u8>>>,
) {
    let mut argv = vec![command.as_bytes().to_vec(), part.key(queue).into_bytes()];
    argv.extend(items.flatten());
    let argv: Vec<&[u8]> = argv.iter().map(Vec::as_slice).collect();
    world.administer(&argv);
}
