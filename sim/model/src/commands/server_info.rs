//! What the server tells about itself.

use super::{Entry, data, wrong_arity};
use crate::arguments::is;
use crate::condition::Condition;
use crate::glob;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("time", time),
    data("info", info).without("memory use and statistics"),
    data("config|get", get_settings).without("most settings"),
    data("config|resetstat", |_, _| Ok(Reply::ok())),
    data("config|set", set_settings).without("all but requirepass"),
];

fn time(state: &mut State, _: &[&[u8]]) -> Answer {
    let now = state.time.now_us();
    let (seconds, microseconds) = (now / 1_000_000, now % 1_000_000);
    Ok(Reply::bulks([
        seconds.to_string(),
        microseconds.to_string(),
    ]))
}

/// The sections that this model can fill honestly. It has no memory use and no statistics, so it
/// does not report any.
fn info(state: &mut State, argv: &[&[u8]]) -> Answer {
    let all = ["default", "all", "everything"];
    let wants = |section: &str| {
        argv.len() == 1
            || argv[1..]
                .iter()
                .any(|word| is(word, section) || all.iter().any(|every| is(word, every)))
    };
    type Section = (&'static str, fn(&mut State) -> String);
    let sections: [Section; 7] = [
        ("Server", |state| {
            format!(
                "redis_version:{}\r\nredis_mode:standalone\r\nserver_name:leaseline-redis-model\r\n",
                state.profile.version()
            )
        }),
        ("Clients", |state| {
            format!(
                "connected_clients:{}\r\nblocked_clients:{}\r\n",
                state.clients.ids().len() - 1,
                state.clients.waiting().count()
            )
        }),
        ("Memory", |_| "maxmemory_policy:noeviction\r\n".to_owned()),
        ("Persistence", |state| {
            let loading = state.conditions.holds(Condition::Loading);
            format!("loading:{}\r\naof_enabled:0\r\n", u8::from(loading))
        }),
        ("Replication", |state| match state.role() {
            "master" => "role:master\r\nconnected_slaves:0\r\n".to_owned(),
            _ => "role:slave\r\nconnected_slaves:0\r\n".to_owned(),
        }),
        ("Cluster", |_| "cluster_enabled:0\r\n".to_owned()),
        ("Keyspace", key_counts),
    ];
    let mut texts = Vec::new();
    for (title, lines) in sections {
        if wants(title) {
            texts.push(format!("# {title}\r\n{}", lines(state)));
        }
    }
    Ok(state.shape().verbatim(texts.join("\r\n")))
}

fn key_counts(state: &mut State) -> String {
    let mut text = String::new();
    for database in state.databases() {
        let (keys, expiring) = state.in_database(database, |state| {
            let slots = state.keys.iter();
            slots.fold((0, 0), |(keys, expiring), (_, slot)| {
                (keys + 1, expiring + i32::from(slot.expires_at_ms.is_some()))
            })
        });
        if keys > 0 {
            text.push_str(&format!(
                "db{database}:keys={keys},expires={expiring},avg_ttl=0\r\n"
            ));
        }
    }
    text
}

/// The settings that a client may ask for, and that are true here.
const SETTINGS: [(&str, &str); 9] = [
    ("appendonly", "no"),
    ("bind", "* -::*"),
    ("databases", "16"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
    ("min-replicas-to-write", "0"),
    ("notify-keyspace-events", ""),
    ("save", ""),
    ("timeout", "0"),
];

fn get_settings(state: &mut State, argv: &[&[u8]]) -> Answer {
    let password = state.password.clone().unwrap_or_default();
    let settings = SETTINGS
        .iter()
        .map(|(name, value)| (*name, value.as_bytes().to_vec()));
    let found = settings
        .chain([("requirepass", password)])
        .filter(|(name, _)| {
            argv[2..]
                .iter()
                .any(|pattern| glob::matches(&pattern.to_ascii_lowercase(), name.as_bytes()))
        })
        .map(|(name, value)| (name, Reply::bulk(value)));
    Ok(state.shape().named(found))
}

/// Takes the password. Of the other settings this model takes what they are already.
fn set_settings(state: &mut State, argv: &[&[u8]]) -> Answer {
    let pairs = argv[2..].chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return Err(wrong_arity("config|set"));
    }
    let mut password = None;
    for pair in pairs {
        let (name, value) = (pair[0], pair[1]);
        if is(name, "requirepass") {
            password = Some(Some(value.to_vec()).filter(|value| !value.is_empty()));
        } else if !SETTINGS
            .iter()
            .any(|(known, now)| is(name, known) && value == now.as_bytes())
        {
            return Err(Refusal::unsupported_option("CONFIG SET", name));
        }
    }
    if let Some(password) = password {
        state.password = password;
    }
    Ok(Reply::ok())
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
