//! What the server tells about itself.

use super::{Entry, data};
use crate::arguments::is;
use crate::glob;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("time", time),
    data("info", info),
    data("config|get", config),
];

fn time(state: &mut State, _: &[&[u8]]) -> Answer {
    let now = state.time.now_us();
    let (seconds, microseconds) = (now / 1_000_000, now % 1_000_000);
    Ok(Reply::bulks([
        seconds.to_string(),
        microseconds.to_string(),
    ]))
}

/// The sections that this model can fill honestly. It has no memory use, no clients and no
/// statistics, so it does not report any.
fn info(state: &mut State, argv: &[&[u8]]) -> Answer {
    let all = ["default", "all", "everything"];
    let wants = |section: &str| {
        argv.len() == 1
            || argv[1..]
                .iter()
                .any(|word| is(word, section) || all.iter().any(|every| is(word, every)))
    };
    let mut sections = Vec::new();
    if wants("server") {
        sections.push(format!(
            "# Server\r\nredis_version:{}\r\nredis_mode:standalone\r\nserver_name:leaseline-redis-model\r\n",
            state.profile.version()
        ));
    }
    if wants("memory") {
        sections.push("# Memory\r\nmaxmemory_policy:noeviction\r\n".to_owned());
    }
    if wants("persistence") {
        sections.push("# Persistence\r\nloading:0\r\naof_enabled:0\r\n".to_owned());
    }
    if wants("replication") {
        sections.push("# Replication\r\nrole:master\r\nconnected_slaves:0\r\n".to_owned());
    }
    if wants("cluster") {
        sections.push("# Cluster\r\ncluster_enabled:0\r\n".to_owned());
    }
    if wants("keyspace") {
        let (mut keys, mut expiring) = (0, 0);
        for (_, slot) in state.keys.iter() {
            keys += 1;
            expiring += usize::from(slot.expires_at_ms.is_some());
        }
        let line = match keys {
            0 => String::new(),
            _ => format!("db0:keys={keys},expires={expiring},avg_ttl=0\r\n"),
        };
        sections.push(format!("# Keyspace\r\n{line}"));
    }
    Ok(Reply::bulk(sections.join("\r\n")))
}

/// The settings that a client of a queue may ask for, and that are true here.
const SETTINGS: [(&str, &str); 5] = [
    ("appendonly", "no"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
    ("save", ""),
    ("timeout", "0"),
];

fn config(_: &mut State, argv: &[&[u8]]) -> Answer {
    let mut found = Vec::new();
    for (name, value) in SETTINGS {
        let wanted = argv[2..]
            .iter()
            .any(|pattern| glob::matches(&pattern.to_ascii_lowercase(), name.as_bytes()));
        if wanted {
            found.extend([name, value]);
        }
    }
    Ok(Reply::bulks(found))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::test_server::{START_MS, TestServer};

    #[test]
    fn time_is_that_of_the_clock() {
        let mut server = TestServer::new();
        server.advance(Duration::from_micros(1_234_567));
        let seconds = START_MS / 1000 + 1;
        server.expect("TIME", &format!("*2 $10 {seconds} $6 234567"));
    }

    #[test]
    fn info_has_what_clients_look_for() {
        let mut server = TestServer::new();
        server.expect("INFO cluster", "$30 # Cluster cluster_enabled:0 ");
        server.expect("INFO nosection", "$0 ");
        server.run("SET k v PX 5");
        let text = format!("{:?}", server.run("INFO"));
        assert!(!text.is_empty());
        server.expect(
            "INFO keyspace",
            "$44 # Keyspace db0:keys=1,expires=1,avg_ttl=0 ",
        );
    }

    #[test]
    fn settings() {
        let mut server = TestServer::new();
        server.expect(
            "CONFIG GET maxmemory*",
            "*4 $9 maxmemory $1 0 $16 maxmemory-policy $10 noeviction",
        );
        server.expect("CONFIG GET SAVE", "*2 $4 save $0 ");
        server.expect("CONFIG GET nosuch", "*0");
        server.expect(
            "CONFIG GET",
            "-ERR wrong number of arguments for 'config|get' command",
        );
    }
}
