//! Replication, of which this server has none: what it answers about its role.

use super::{Entry, data};
use crate::arguments::integer;
use crate::condition::Condition;
use crate::refusal::{Answer, Refusal};
use crate::reply::Reply;
use crate::state::State;

pub(super) const COMMANDS: &[Entry] = &[
    data("asking", no_cluster),
    data("readonly", no_cluster),
    data("readwrite", no_cluster),
    data("role", role).without("the role of a replica"),
    data("wait", wait),
];

fn no_cluster(_: &mut State, _: &[&[u8]]) -> Answer {
    Err(Refusal::Text(
        "ERR This instance has cluster support disabled",
    ))
}

impl State {
    /// What this server is to others.
    pub(crate) fn role(&self) -> &'static str {
        match self.conditions.holds(Condition::ReadOnly) {
            true => "replica",
            false => "master",
        }
    }
}

fn role(state: &mut State, _: &[&[u8]]) -> Answer {
    match state.role() {
        "master" => Ok(Reply::Array(vec![
            Reply::bulk("master"),
            Reply::Integer(0),
            Reply::Array(vec![]),
        ])),
        _ => Err(Refusal::unsupported("ROLE of a replica")),
    }
}

/// No replica ever acknowledges a write.
fn wait(state: &mut State, argv: &[&[u8]]) -> Answer {
    let replicas = integer(argv[1])?;
    let deadline = state.deadline_of_milliseconds(argv[2])?;
    let none = Reply::Integer(0);
    match replicas {
        ..=0 => Ok(none),
        _ => state.wait_or(none, &[], deadline, argv),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::Reply;
    use crate::test_server::TestServer;

    #[test]
    fn a_lone_master() {
        let mut server = TestServer::new();
        for (command, reply) in [
            ("ROLE", "*3 $6 master :0 *0"),
            ("WAIT 0 0", ":0"),
            ("WAIT 1 50", ":0"),
            ("WAIT x 0", "-ERR value is not an integer or out of range"),
            ("WAIT 0 -1", "-ERR timeout is negative"),
            ("WAIT 0 x", "-ERR timeout is not an integer or out of range"),
            (
                "READONLY",
                "-ERR This instance has cluster support disabled",
            ),
        ] {
            server.expect(command, reply);
        }
    }

    #[test]
    fn replicas_are_waited_for_in_vain() {
        let mut server = TestServer::new();
        let client = server.connect();
        assert_eq!(server.call(client, &[b"WAIT", b"1", b"50"]), None);
        assert!(server.is_waiting(client));
        server.advance(Duration::from_millis(50));
        assert_eq!(server.take_replies(), [(client, Reply::Integer(0))]);
    }
}
