//! What a node says that does not have the keys.

use redis::Value as Tree;

use crate::address::Target;

/// Where a command has to go instead. It did not run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirection {
    pub(super) target: Target,
    /// Only for this command, and only if it is asked for: the slot is on its way there.
    pub(super) asking: bool,
}

impl Redirection {
    /// Reads `MOVED slot host:port` and `ASK slot host:port`. Without a host it is the one that
    /// `asked` has.
    pub(super) fn of(reply: &Tree, asked: &Target) -> Option<Self> {
        let Tree::ServerError(error) = reply else {
            return None;
        };
        let asking = match error.code() {
            "MOVED" => false,
            "ASK" => true,
            _ => return None,
        };
        let (_, place) = error.details()?.split_once(' ')?;
        let (host, port) = place.rsplit_once(':')?;
        let host = match host {
            "" | "?" => asked.host()?,
            host => host.trim_start_matches('[').trim_end_matches(']'),
        };
        Some(Self {
            target: asked.beside(host, port.trim().parse().ok()?),
            asking,
        })
    }
}

/// Whether the node sees too little of its cluster to serve its slots.
pub(super) fn is_lost(reply: &Tree) -> bool {
    matches!(reply, Tree::ServerError(error) if error.code() == "CLUSTERDOWN")
}

/// The error of a command that was not run because its slot moves. Redis has the same one.
pub(super) fn try_again(reason: &str) -> Tree {
    let line = format!("-TRYAGAIN {}\r\n", reason.replace(['\r', '\n'], " "));
    // The line is a well-formed reply by construction.
    redis::parse_redis_value(line.as_bytes()).unwrap_or(Tree::Nil)
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
    fn redirections_are_read() {
        let read = |line: &str| {
            let reply = redis::parse_redis_value(format!("-{line}\r\n").as_bytes());
            Redirection::of(&reply.expect("well-formed"), &target("asked", 7))
        };
        let to = |host, port, asking| {
            let target = target(host, port);
            Some(Redirection { target, asking })
        };
        assert_eq!(read("MOVED 1 10.0.0.1:6380"), to("10.0.0.1", 6380, false));
        assert_eq!(read("ASK 1 node.example:1"), to("node.example", 1, true));
        assert_eq!(read("MOVED 1 :6380"), to("asked", 6380, false));
        assert_eq!(read("MOVED 1 ::1:6380"), to("::1", 6380, false));
        for line in [
            "MOVED",
            "MOVED 1",
            "MOVED 1 host",
            "MOVED 1 host:x",
            "ERR 1 a:1",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn an_own_error_is_one_of_the_servers_kind() {
        match try_again("lost\r\nits way") {
            Tree::ServerError(error) => {
                assert_eq!(
                    (error.code(), error.details()),
                    ("TRYAGAIN", Some("lost  its way"))
                );
            }
            other => panic!("{other:?}"),
        }
    }
}
