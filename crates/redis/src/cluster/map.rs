//! Who owns which slot, as the cluster tells it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redis::Value;

use crate::address::Target;
use crate::connector::Connector;
use crate::dial::{Dial, Login};
use crate::error::OpenError;
use crate::place::Maker;

/// The owners of the slots at one time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SlotMap {
    /// By the last slot of each range: the first one, and the owner.
    ranges: BTreeMap<u16, (u16, Target)>,
}

impl SlotMap {
    /// The owner of a slot; without a slot, any node, but always the same one.
    pub(crate) fn owner(&self, slot: Option<u16>) -> Option<&Target> {
        let (_, (first, owner)) = self.ranges.range(slot.unwrap_or(0)..).next()?;
        slot.is_none_or(|slot| *first <= slot).then_some(owner)
    }

    /// All owners, each once.
    fn owners(&self) -> Vec<Target> {
        let mut owners = Vec::new();
        for (_, owner) in self.ranges.values() {
            if !owners.contains(owner) {
                owners.push(owner.clone());
            }
        }
        owners
    }

    /// Reads the answer of `CLUSTER SLOTS`: ranges of first slot, last slot, and nodes, the owner
    /// first. A node without a name of its own is the one that was asked.
    fn read(reply: &Value, asked: &Target) -> Option<Self> {
        let Value::Array(ranges) = reply else {
            return None;
        };
        let mut map = Self {
            ranges: BTreeMap::new(),
        };
        for range in ranges {
            let Value::Array(parts) = range else {
                return None;
            };
            let [first, last, Value::Array(owner), ..] = &parts[..] else {
                return None;
            };
            let [host, port, ..] = &owner[..] else {
                return None;
            };
            let host = match host {
                Value::BulkString(host) => std::str::from_utf8(host).ok()?,
                Value::SimpleString(host) => host,
                _ => "",
            };
            let host = match host {
                "" => asked.host()?,
                // Redis says so of a node whose name it does not know.
                "?" => continue,
                host => host,
            };
            let owner = asked.beside(host, number(port)?);
            map.ranges.insert(number(last)?, (number(first)?, owner));
        }
        Some(map)
    }
}

fn number(value: &Value) -> Option<u16> {
    match value {
        Value::Int(number) => u16::try_from(*number).ok(),
        _ => None,
    }
}

/// Asks the nodes for their map, each time on a connection of its own: it is rare, and must not wait
/// behind calls.
pub(crate) struct Surveyor {
    connector: Arc<Connector>,
    seeds: Vec<Target>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// From the last map.
    owners: Vec<Target>,
    /// Knows more than the others.
    first: Option<Target>,
    /// Did not answer.
    last: Option<Target>,
}

impl Surveyor {
    pub(crate) fn new(connector: Arc<Connector>, seeds: Vec<Target>) -> Self {
        Self {
            connector,
            seeds,
            known: Mutex::default(),
        }
    }

    /// Asks this node first the next time.
    pub(crate) fn hint(&self, target: Target) {
        let mut known = self.known();
        if known.last.as_ref() == Some(&target) {
            known.last = None;
        }
        known.first = Some(target);
    }

    /// Asks this node last the next time.
    pub(crate) fn avoid(&self, target: Target) {
        let mut known = self.known();
        if known.first.as_ref() == Some(&target) {
            known.first = None;
        }
        known.last = Some(target);
    }

    /// Everybody who can be asked, each once, in order.
    fn candidates(&self) -> Vec<Target> {
        let mut known = self.known();
        let (first, last) = (known.first.take(), known.last.take());
        let mut candidates: Vec<Target> = Vec::new();
        let ranked = first.iter().chain(&known.owners).chain(&self.seeds);
        for target in ranked
            .filter(|target| last.as_ref() != Some(target))
            .chain(&last)
        {
            if !candidates.contains(target) {
                candidates.push(target.clone());
            }
        }
        candidates
    }

    async fn ask(&self, target: &Target) -> Result<SlotMap, OpenError> {
        let dial = Dial::new(&self.connector, target, self.connector.connect_timeout);
        let login = Login {
            credentials: self.connector.address.credentials.as_ref(),
            database: 0,
            name: "leaseline",
        };
        let link = dial.connect(&login).await?;
        let mut command = redis::cmd("CLUSTER");
        command.arg("SLOTS");
        let reply = match dial.question(&link, &command).await? {
            Ok(reply) => reply,
            Err(error) if error.message.contains("cluster support disabled") => {
                return Err(OpenError::NotCluster {
                    address: target.to_string(),
                });
            }
            Err(error) => {
                return Err(OpenError::Refused {
                    address: target.to_string(),
                    error,
                });
            }
        };
        SlotMap::read(&reply, target).ok_or_else(|| OpenError::NotRedis {
            address: target.to_string(),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Maker for Surveyor {
    type Thing = SlotMap;

    /// The first node that answers is believed.
    async fn make(&self) -> Result<Arc<SlotMap>, OpenError> {
        let mut failure = None;
        for target in self.candidates() {
            match self.ask(&target).await {
                Ok(map) => {
                    self.known().owners = map.owners();
                    return Ok(Arc::new(map));
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.unwrap_or_else(|| OpenError::InvalidAddress {
            reason: "it names no node".into(),
        }))
    }

    fn is_usable(_: &SlotMap) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(host: &str, port: u16) -> Target {
        Target::Tcp {
            host: host.into(),
            port,
        }
    }

    #[test]
    fn the_map_is_read_by_ranges() {
        let wire = "*3\r\n\
            *4\r\n:0\r\n:99\r\n*3\r\n$1\r\na\r\n:1\r\n$1\r\nx\r\n*3\r\n$1\r\nr\r\n:9\r\n$1\r\ny\r\n\
            *3\r\n:200\r\n:299\r\n*4\r\n$0\r\n\r\n:2\r\n$1\r\nx\r\n*0\r\n\
            *3\r\n:300\r\n:300\r\n*3\r\n$1\r\n?\r\n:3\r\n$1\r\nx\r\n";
        let reply = redis::parse_redis_value(wire.as_bytes()).expect("well-formed");
        let map = SlotMap::read(&reply, &target("asked", 7)).expect("a map");
        let owner = |slot| map.owner(slot).cloned();
        assert_eq!(owner(None), Some(target("a", 1)));
        assert_eq!(owner(Some(0)), Some(target("a", 1)));
        assert_eq!(owner(Some(99)), Some(target("a", 1)));
        assert_eq!(owner(Some(250)), Some(target("asked", 2)));
        for slot in [100, 199, 300, 16383] {
            assert_eq!(owner(Some(slot)), None, "{slot}");
        }
        for wire in ["+OK\r\n", "*1\r\n:1\r\n", "*1\r\n*2\r\n:1\r\n:2\r\n"] {
            let reply = redis::parse_redis_value(wire.as_bytes()).expect("well-formed");
            assert_eq!(SlotMap::read(&reply, &target("asked", 7)), None, "{wire}");
        }
    }

    #[test]
    fn who_knows_most_is_asked_first_and_who_is_silent_last() {
        let connector = Connector::new("redis+cluster://a:1,b:2").expect("an address");
        let seeds = vec![target("a", 1), target("b", 2)];
        let surveyor = Surveyor::new(Arc::new(connector), seeds);
        surveyor.known().owners = vec![target("b", 2), target("c", 3)];
        surveyor.hint(target("d", 4));
        surveyor.avoid(target("b", 2));
        let hosts = |candidates: Vec<Target>| -> String {
            candidates.iter().filter_map(Target::host).collect()
        };
        assert_eq!(hosts(surveyor.candidates()), "dcab");
        // Told once.
        assert_eq!(hosts(surveyor.candidates()), "bca");
    }
}
