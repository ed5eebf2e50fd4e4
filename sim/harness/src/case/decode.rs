//! Any bytes are a case. Where they end, the mildest choice is taken.

use super::{Case, FIELDS, Family, KINDS, Op, SETTINGS};

/// The most operations of a decoded case.
const MOST_OPS: usize = 240;

/// Random numbers that can run out.
struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        self.0.next().copied()
    }

    /// A number up to `most`, 0 after the end.
    fn up_to(&mut self, most: u32) -> u32 {
        u32::from(self.next().unwrap_or(0)) % (most + 1)
    }
}

/// The case that bytes stand for. Total, and the same forever for one version of the tables.
///
/// The first bytes draw the settings and the swarm: which families of faults are on at all, and
/// which operations come up often, seldom or never.
pub fn decode(bytes: &[u8]) -> Case {
    let mut bytes = Bytes(bytes.iter());
    let mut case = Case::default();
    for (name, choices) in SETTINGS {
        let choice = choices[bytes.up_to(choices.len() as u32 - 1) as usize];
        if let Some(setting) = case.settings.find(name) {
            *setting = choice;
        }
    }
    // One case in four has no faults.
    let families = match bytes.up_to(3) {
        0 => 0,
        _ => bytes.up_to(255),
    };
    // Small cases are common: they are fast, and what they find is easy to read.
    let most = match bytes.up_to(3) {
        0 => 20,
        1 => 60,
        2 => 120,
        _ => MOST_OPS,
    };
    let mut total = 0;
    let steps: Vec<u32> = KINDS
        .iter()
        .map(|kind| {
            // What is never drawn takes no byte either: seeds mean what they meant without it.
            if kind.weight == 0 {
                return total;
            }
            let swarm = [4, 16, 1, 0][bytes.up_to(3) as usize];
            total += if is_on(kind.family, families) {
                kind.weight * if kind.name == "advance" { 8 } else { swarm }
            } else {
                0
            };
            total
        })
        .collect();
    while case.ops.len() < most {
        let (Some(high), Some(low)) = (bytes.next(), bytes.next()) else {
            break;
        };
        let at = u32::from(u16::from_be_bytes([high, low])) % total.max(1);
        let kind = steps.partition_point(|end| *end <= at);
        let mut numbers = [0; FIELDS];
        for (number, (name, most)) in numbers.iter_mut().zip(KINDS[kind].fields) {
            // Beyond the clients and queues that there are, numbers would wrap unevenly.
            *number = match *name {
                "client" | "from" | "to" => bytes.up_to(case.settings.clients - 1),
                "queue" => bytes.up_to(case.settings.queues - 1),
                // Most scripts make few calls.
                "call" => bytes.up_to(*most).min(bytes.up_to(*most)),
                _ => bytes.up_to(*most),
            };
        }
        case.ops.push(Op::build(kind, numbers));
    }
    case
}

fn is_on(family: Family, families: u32) -> bool {
    match family {
        Family::Work | Family::Time => true,
        _ => families >> (family as u32 - Family::Network as u32) & 1 == 1,
    }
}
