//! The contract between the scripts and their callers: every caller pushes its keys and arguments
//! under the roles, and in the order, of the script's header.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::future::{Future, ready};
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use seen::Seen;

use crate::capability::{Clock, Entropy, PipelineReply, Redis, Reply, Value};
use crate::message::{Lease, Outgoing, ReleaseRequest, SettleRequest, Settlement};
use crate::script::{ALL, Invocation, Script};
use crate::waiting::Watch;
use crate::{Config, Queue};

/// The roles of a header's KEYS or ARGV; `true`: the last ones repeat.
#[derive(Debug, Default, PartialEq)]
struct Roles {
    names: Vec<String>,
    repeats: bool,
}

impl Roles {
    fn parse(script: &Script, kind: &str) -> Self {
        let mut roles = Self::default();
        for line in header(script) {
            let Some(rest) = line.strip_prefix(&format!("{kind}[")) else {
                continue;
            };
            let (index, rest) = rest.split_once(']').expect("a closing bracket");
            assert!(
                !roles.repeats,
                "{}: a role after the repeated one",
                script.name
            );
            roles.repeats = index.ends_with("..");
            let position = index
                .trim_end_matches("..")
                .parse::<usize>()
                .expect("a position");
            assert_eq!(position, roles.names.len() + 1, "{}: {line}", script.name);
            roles
                .names
                .push(rest.split_whitespace().next().expect("a role").to_string());
        }
        roles
    }

    fn check(&self, script: &Script, kind: &str, pushed: &[&str]) {
        let last = self.names.last().map(String::as_str);
        let (fixed, rest) = match self.repeats {
            true => self.names.split_at(self.names.len() - 1),
            false => (self.names.as_slice(), [].as_slice()),
        };
        assert!(
            pushed.len() >= fixed.len(),
            "{} {kind}: {pushed:?}",
            script.name
        );
        assert_eq!(&pushed[..fixed.len()], fixed, "{} {kind}", script.name);
        for role in &pushed[fixed.len()..] {
            assert!(
                !rest.is_empty() && Some(*role) == last,
                "{} {kind}: {role}",
                script.name
            );
        }
    }

    fn cell(&self) -> String {
        let mut cell = self.names.join(", ");
        if self.repeats {
            cell.push_str(" …");
        }
        cell
    }
}

/// The comment lines at the top, without their dashes.
fn header(script: &Script) -> impl Iterator<Item = &'static str> {
    script
        .source
        .lines()
        .map_while(|line| line.strip_prefix("--"))
        .map(str::trim)
}

fn summary(script: &Script) -> String {
    let text = header(script)
        .take_while(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let (name, summary) = text.split_once(": ").expect("a name and a summary");
    assert_eq!(name, script.name);
    summary.to_string()
}

/// Panics unless the call matches the header of its script.
pub(crate) fn check(call: &Invocation<'_>) {
    Roles::parse(call.script, "KEYS").check(call.script, "KEYS", &call.roles.0);
    Roles::parse(call.script, "ARGV").check(call.script, "ARGV", &call.roles.1);
}

/// Which scripts a stand-in server was asked to run.
mod seen {
    use alloc::vec::Vec;
    use core::sync::atomic::{AtomicU32, Ordering};

    #[derive(Default)]
    pub(super) struct Seen(AtomicU32);

    impl Seen {
        pub(super) fn add(&self, index: usize) {
            self.0.fetch_or(1 << index, Ordering::Relaxed);
        }

        pub(super) fn missing(&self) -> Vec<&'static str> {
            let seen = self.0.load(Ordering::Relaxed);
            (0..crate::script::ALL.len())
                .filter(|index| seen & (1 << index) == 0)
                .map(|index| crate::script::ALL[index].name)
                .collect()
        }
    }
}

/// Answers every script with the same reply, and a list with one dead letter.
struct StandIn {
    seen: Arc<Seen>,
    reply: Vec<Value>,
}

impl StandIn {
    fn answer(&self, argv: &[&[u8]]) -> Vec<Value> {
        match argv[0] {
            b"LRANGE" => vec![Value::Bytes(b"letter".to_vec())],
            b"EVALSHA" => {
                let index = ALL
                    .iter()
                    .position(|script| script.sha1.as_bytes() == argv[1]);
                self.seen.add(index.expect("a script of ours"));
                self.reply.clone()
            }
            _ => vec![Value::Int(1)],
        }
    }
}

impl Redis for StandIn {
    fn execute(&self, argv: &[&[u8]], _: u32) -> impl Future<Output = Reply> + Send {
        ready(Ok(self.answer(argv)))
    }

    fn pipeline(
        &self,
        commands: &[&[&[u8]]],
        _: u32,
    ) -> impl Future<Output = PipelineReply> + Send {
        ready(Ok(commands
            .iter()
            .map(|argv| Ok(self.answer(argv)))
            .collect()))
    }
}

impl Clock for StandIn {
    fn now_ms(&self) -> u64 {
        0
    }

    fn sleep_ms(&self, _: u64) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

impl Entropy for StandIn {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the stand-in is always ready"),
    }
}

#[test]
fn every_script_is_called_as_its_header_says() {
    let seen = Arc::new(Seen::default());
    let stand_in = |reply: Vec<Value>| StandIn {
        seen: Arc::clone(&seen),
        reply,
    };
    let one_claim = vec![
        Value::Int(1),
        Value::Int(1),
        Value::Bytes(b"S".to_vec()),
        Value::Int(1),
    ];
    for leases in [true, false] {
        for log in [crate::config::Log::Off, crate::config::Log::Capped(5)] {
            let mut config = Config::new("q");
            (config.completed, config.failed) = (log, log);
            if !leases {
                (config.visibility_timeout_ms, config.max_delivery_count) = (None, None);
            }
            let reply = if leases {
                vec![Value::Int(1)]
            } else {
                one_claim.clone()
            };
            let watch = Watch::new(&config);
            let _ = now(watch.outlook(&stand_in(vec![Value::Int(0), Value::Nil])));
            let mut queue =
                Queue::new(config, stand_in(reply), stand_in(vec![]), stand_in(vec![])).unwrap();
            for deduplication_key in [None, Some(b"k".to_vec())] {
                for delay_ms in [0, 10] {
                    now(queue.publish(&[Outgoing {
                        payload: "p".into(),
                        deduplication_key: deduplication_key.clone(),
                        delay_ms,
                    }]));
                }
            }
            let _ = now(queue.claim(2, 0));
            let token = leases.then(|| "1".to_string());
            let lease = Lease {
                stored: b"S".to_vec(),
                token,
                deadline_ms: None,
                not_after_ms: None,
            };
            for settlement in [Settlement::Ack, Settlement::Fail] {
                now(queue.settle(&[SettleRequest {
                    lease: lease.clone(),
                    settlement,
                    reason: None,
                }]));
            }
            now(queue.renew(core::slice::from_ref(&lease)));
            now(queue.release(&[ReleaseRequest {
                lease,
                delay_ms: 10,
            }]));
            let _ = now(queue.stats());
            let _ = now(queue.redrive(2));
            let _ = now(queue.peek(crate::message::List::Pending, 1));
            let _ = now(queue.purge(crate::message::List::Pending));
            queue.adopt_claims(vec!["id".to_string()]);
            let _ = now(queue.drain(10));
        }
    }
    assert_eq!(seen.missing(), [""; 0]);
}

/// The table in `lua/README.md`; the test prints it when it is out of date.
#[test]
fn the_readme_lists_the_contract() {
    extern crate std;
    let mut table = String::from("| script | KEYS | ARGV | does |\n|---|---|---|---|\n");
    for script in ALL {
        let (keys, argv) = (Roles::parse(script, "KEYS"), Roles::parse(script, "ARGV"));
        let row = format!(
            "| `{}` | {} | {} | {} |\n",
            script.name,
            keys.cell(),
            argv.cell(),
            summary(script)
        );
        table.push_str(&row);
        for line in ["RETURNS", "WRITES", "COST"] {
            let found = header(script).any(|text| text.starts_with(line));
            assert!(found, "{} does not say what it {line}", script.name);
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lua/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    assert!(
        readme.contains(&table),
        "lua/README.md should contain:\n{table}"
    );
}
