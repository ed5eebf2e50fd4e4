//! A queue: the scripts of the `lua` directory with the operations of a queue, in random order.
//!
//! Each script is called as its header says, key by key and argument by argument; that the queue
//! itself calls them so is tested where the queue is.

use std::collections::BTreeMap;
use std::path::Path;

use leaseline_redis_model::Reply;

use crate::pair::Pair;
use crate::random::Random;
use crate::steps::{Difference, Played};

/// What operations are there, and how often they come up. Not `outlook` and `stats`: they tell how
/// long it is until something, and the clocks of the two servers differ.
const OPERATIONS: &[&str] = &[
    "add",
    "add",
    "publish",
    "publish",
    "claim",
    "claim_lease",
    "claim_lease",
    "claim_lease",
    "claim_lease",
    "move",
    "move_lease",
    "move_lease",
    "remove",
    "remove_lease",
    "remove_lease",
    "renew",
    "return",
    "redrive",
    "cleanup",
    "delay",
    "release",
    "release",
    "peek",
    "purge",
];

/// The payloads of messages: some do not survive JSON unharmed.
const PAYLOADS: &[&str] = &[
    "\"payload\":\"a\"",
    "\"payload\":\"\\u00e9\\n\"",
    "\"payload_hex\":\"00ff\"",
    "\"payload_hex\":\"xyz\"",
    "\"payload\":7",
    "\"payload\":",
];

pub(crate) fn play(pair: &mut Pair, random: &mut Random) -> Played {
    let mut queue = Queue::new(pair)?;
    for step in 0..100 {
        match random.below(12) {
            0 => queue.age(pair, random)?,
            1 if random.one_in(5) => queue.meddle(pair, random)?,
            _ => {
                let name = random.pick(OPERATIONS);
                queue.operate(pair, random, name)?;
            }
        }
        if step % 10 == 9 {
            pair.compare_keys()?;
        }
    }
    Ok(())
}

/// A script, and what its header names.
struct Script {
    sha1: Vec<u8>,
    source: String,
    keys: Vec<String>,
    arguments: Vec<String>,
}

/// What is known of the queue, to find messages and leases again.
struct Queue {
    scripts: BTreeMap<&'static str, Script>,
    /// Stored messages that were published.
    messages: Vec<Vec<u8>>,
    /// Stored messages with the tokens that they were claimed under.
    leases: Vec<(Vec<u8>, Vec<u8>)>,
    published: usize,
    called: usize,
}

/// What one call is about, so that its keys and arguments belong together.
struct Subject {
    stored: Vec<u8>,
    token: Vec<u8>,
    claim_ids: Vec<String>,
    letters: Vec<Vec<u8>>,
    /// Never the same twice, and seconds apart: the order of two deadlines must not depend on the
    /// clocks.
    lease_ms: String,
}

impl Queue {
    fn new(pair: &mut Pair) -> Result<Self, Difference> {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lua");
        let mut scripts = BTreeMap::new();
        for name in OPERATIONS {
            let path = directory.join(format!("{name}.lua"));
            let source = std::fs::read_to_string(path).expect("a script of the queue");
            let loaded = pair.call(&[b"SCRIPT", b"LOAD", source.as_bytes()])?;
            let Reply::Bulk(sha1) = loaded else {
                panic!("{name} does not compile");
            };
            let (keys, arguments) = (roles(&source, "KEYS"), roles(&source, "ARGV"));
            scripts.insert(
                *name,
                Script {
                    sha1,
                    source,
                    keys,
                    arguments,
                },
            );
        }
        Ok(Queue {
            scripts,
            messages: Vec::new(),
            leases: Vec::new(),
            published: 0,
            called: 0,
        })
    }

    /// Calls a script of the queue.
    fn operate(&mut self, pair: &mut Pair, random: &mut Random, name: &str) -> Played {
        let subject = self.subject(pair, random, name)?;
        let script = &self.scripts[name];
        let keys: Vec<_> = (script.keys.iter())
            .flat_map(|role| keys(random, role, &subject))
            .collect();
        let arguments: Vec<_> = (script.arguments.iter())
            .flat_map(|role| arguments(random, role, &subject))
            .collect();
        let count = keys.len().to_string();
        let (how, what) = match random.one_in(5) {
            true => (&b"EVAL"[..], script.source.as_bytes()),
            false => (&b"EVALSHA"[..], script.sha1.as_slice()),
        };
        let mut argv = vec![how, what, count.as_bytes()];
        argv.extend(keys.iter().map(|key| key.as_bytes()));
        argv.extend(arguments.iter().map(Vec::as_slice));
        let reply = pair.call(&argv)?;
        if name == "claim_lease" {
            self.learn(&reply);
        }
        Ok(())
    }

    fn subject(
        &mut self,
        pair: &mut Pair,
        random: &mut Random,
        name: &str,
    ) -> Result<Subject, Difference> {
        let new = ["add", "publish", "delay"].contains(&name);
        let (mut stored, token) = match self.leases.len() {
            known if known > 0 && !new => self.leases[random.below(known)].clone(),
            _ => (self.message(random, new), b"1".to_vec()),
        };
        if !new && random.one_in(4) {
            stored = self.message(random, false);
        }
        self.called += 1;
        let claim_ids = (0..=random.below(3)).map(|_| format!("c{}", random.below(12)));
        let mut subject = Subject {
            stored,
            token,
            claim_ids: claim_ids.collect(),
            letters: Vec::new(),
            lease_ms: (60_000 + 5_000 * self.called).to_string(),
        };
        if name == "redrive" {
            let letters = pair.call(&[b"LRANGE", b"q::dead_letters", b"-2", b"-1"])?;
            if let Reply::Array(letters) = letters {
                for letter in letters.into_iter().rev() {
                    let Reply::Bulk(letter) = letter else {
                        continue;
                    };
                    subject.letters.push(letter);
                    subject.letters.push(self.message(random, true));
                }
            }
        }
        Ok(subject)
    }

    /// A message that was published, or one more.
    fn message(&mut self, random: &mut Random, new: bool) -> Vec<u8> {
        if !new && !self.messages.is_empty() {
            return self.messages[random.below(self.messages.len())].clone();
        }
        self.published += 1;
        let payload = match random.below(3) {
            0 => random.pick(PAYLOADS),
            _ => PAYLOADS[0],
        };
        let message = match random.below(12) {
            0 => format!("bare {}", self.published % 3),
            _ => format!("\u{1e}RMQ1:{{\"id\":\"m{}\",{payload}}}", self.published),
        };
        self.messages.push(message.clone().into_bytes());
        message.into_bytes()
    }

    /// Finds the leases in the answer to a claim.
    fn learn(&mut self, reply: &Reply) {
        let Reply::Array(items) = reply else { return };
        let Some(Reply::Integer(claims)) = items.first() else {
            return;
        };
        let claims = usize::try_from(*claims).unwrap_or_default();
        for claim in items[1..].chunks_exact(6).take(claims) {
            if let [_, Reply::Bulk(stored), Reply::Bulk(token), ..] = claim {
                self.leases.push((stored.clone(), token.clone()));
            }
        }
        let keep_from = self.leases.len().saturating_sub(6);
        self.leases.drain(..keep_from);
    }

    /// Lets a lease end long ago.
    fn age(&mut self, pair: &mut Pair, random: &mut Random) -> Played {
        let Some((stored, _)) = self.leases.get(random.below(6)) else {
            return Ok(());
        };
        let when = (1 + random.below(3)).to_string();
        let key = b"q::processing:lease_deadlines";
        pair.call(&[b"ZADD", key, b"XX", when.as_bytes(), stored])?;
        Ok(())
    }

    /// Does to the queue's keys what nobody should.
    fn meddle(&mut self, pair: &mut Pair, random: &mut Random) -> Played {
        let roles = self.scripts.values().flat_map(|script| &script.keys);
        let roles: Vec<_> = roles.collect();
        let role = roles[random.below(roles.len())].clone();
        let subject = self.subject(pair, random, "remove")?;
        for key in keys(random, &role, &subject) {
            let key = key.as_bytes();
            match random.below(4) {
                0 => pair.call(&[b"SET", key, b"x"])?,
                1 => pair.call(&[b"RPUSH", key, &subject.stored])?,
                2 => pair.call(&[b"LREM", key, b"1", &subject.stored])?,
                _ => pair.call(&[b"DEL", key])?,
            };
        }
        Ok(())
    }
}

/// The names that a header gives to keys or arguments, in order.
fn roles(source: &str, kind: &str) -> Vec<String> {
    let header = source.lines().map_while(|line| line.strip_prefix("--"));
    header
        .filter_map(|line| {
            let rest = line.trim().strip_prefix(kind)?.strip_prefix('[')?;
            let (_, role) = rest.split_once("] ")?;
            role.split_whitespace().next().map(str::to_owned)
        })
        .collect()
}

/// The keys for a role: several, if the role repeats.
fn keys(random: &mut Random, role: &str, subject: &Subject) -> Vec<String> {
    let one = match role {
        "pending" | "processing" | "dead_letters" => format!("q::{role}"),
        "list" => format!(
            "q::{}",
            random.pick(&["pending", "processing", "completed"])
        ),
        "destination" => format!("q::{}", random.pick(&["completed", "failed"])),
        "deduplication" => format!("q::deduplication::{}", random.below(4)),
        "marker" => format!("q::marker:{}", random.below(20)),
        "claim_result" => {
            let ids = subject.claim_ids.iter();
            return ids.map(|id| format!("q::claim_result:{id}")).collect();
        }
        _ => format!("q::processing:{role}"),
    };
    vec![one]
}

/// The arguments for a role: several, if the role repeats.
fn arguments(random: &mut Random, role: &str, subject: &Subject) -> Vec<Vec<u8>> {
    let one = match role {
        "stored" => return vec![subject.stored.clone()],
        "token" => return vec![subject.token.clone()],
        "lease" => {
            let not_after = random.pick(&["0", "0", "1", "9007199254740991"]);
            let lease = [&subject.stored[..], &subject.token, not_after.as_bytes()];
            return lease.iter().map(|field| field.to_vec()).collect();
        }
        "letter" => return subject.letters.clone(),
        "claim_id" => {
            let ids = subject.claim_ids.iter();
            return ids.map(|id| id.clone().into_bytes()).collect();
        }
        "payload" => random.pick(&["a", "b", ""]),
        "mode" => random.pick(&["claim", "claim", "claim", "replay"]),
        "max" => random.pick(&["1", "2", "100"]),
        "enveloped" => random.pick(&["0", "1"]),
        "max_deliveries" => random.pick(&["2", "2", "1", "0"]),
        "max_pending_length" => random.pick(&["", "", "3", "1"]),
        "overload_policy" => random.pick(&["drop_oldest", "refuse"]),
        "lease_ms" | "delay_ms" => &subject.lease_ms,
        "marker_ttl_ms" | "record_ttl_ms" | "deduplication_ttl_ms" => {
            random.pick(&["60000", "180000", "600000"])
        }
        _ => panic!("a role without values: {role}"),
    };
    vec![one.as_bytes().to_vec()]
}
