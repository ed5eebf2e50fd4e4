//! Judging a server by what it says about itself.

use super::finding::{Finding, Verdict};
use super::server::Server;

/// The oldest version whose scripts behave as ours need.
const OLDEST: (u32, u32) = (7, 0);

/// Clocks further apart than this make deadlines hard to read for people.
const CLOCK_TOLERANCE_MS: u64 = 1_000;

/// A round trip longer than this bounds the rate of a worker that takes one message at a time.
const SLOW_MICROS: u128 = 5_000;

/// Judges everything that `INFO`, `CONFIG`, `PING` and `TIME` tell.
pub(crate) fn judge(server: &Server) -> Vec<Finding> {
    let judges = [
        version,
        role,
        loading,
        eviction,
        memory,
        persistence,
        last_save,
        replicas,
        idle_timeout,
        keepalive,
        cluster,
        clock,
        round_trip,
    ];
    judges.iter().filter_map(|judge| judge(server)).collect()
}

fn version(server: &Server) -> Option<Finding> {
    let version = server.info("redis_version").unwrap_or("unknown");
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    Some(if found >= OLDEST {
        Finding::ok("version", version)
    } else {
        Finding::new(
            "version",
            Verdict::Problem,
            version,
            "upgrade to Redis 7.0 or later: the scripts rely on its rules for errors and memory",
        )
    })
}

fn role(server: &Server) -> Option<Finding> {
    match server.info("role")? {
        "slave" => Some(Finding::new(
            "role",
            Verdict::Problem,
            "a replica, which refuses writes",
            "connect to the primary",
        )),
        _ => Some(Finding::ok("role", "primary")),
    }
}

fn loading(server: &Server) -> Option<Finding> {
    (server.count("loading") != 0).then(|| {
        Finding::new(
            "loading",
            Verdict::Warning,
            "the data set is being loaded",
            "wait: commands are refused until it is done, and retried for the retry budget",
        )
    })
}

fn eviction(server: &Server) -> Option<Finding> {
    let policy = server
        .setting("maxmemory-policy")
        .or_else(|| server.info("maxmemory_policy"))?;
    Some(if policy == "noeviction" {
        Finding::ok("maxmemory-policy", policy)
    } else if policy.starts_with("volatile") {
        Finding::new(
            "maxmemory-policy",
            Verdict::Warning,
            policy,
            "CONFIG SET maxmemory-policy noeviction: under memory pressure deduplication keys and claim records would vanish, and messages be published or claimed twice",
        )
    } else {
        Finding::new(
            "maxmemory-policy",
            Verdict::Problem,
            policy,
            "CONFIG SET maxmemory-policy noeviction: under memory pressure whole queues would vanish",
        )
    })
}

fn memory(server: &Server) -> Option<Finding> {
    let (used, limit) = (server.count("used_memory"), server.count("maxmemory"));
    if limit <= 0 {
        return Some(Finding::new(
            "maxmemory",
            Verdict::Note,
            "no limit",
            "set maxmemory below the machine's memory, so that publishes are refused before the system kills the server",
        ));
    }
    let percent = used.saturating_mul(100) / limit;
    Some(if percent < 90 {
        Finding::ok("maxmemory", format!("{percent} % used"))
    } else {
        let verdict = match percent {
            0..100 => Verdict::Warning,
            _ => Verdict::Problem,
        };
        Finding::new(
            "maxmemory",
            verdict,
            format!("{percent} % used"),
            "raise maxmemory or let consumers catch up: at 100 % publishes and claims are refused; acknowledgements still work",
        )
    })
}

fn persistence(server: &Server) -> Option<Finding> {
    if server.count("aof_enabled") != 0 {
        return Some(match server.setting("appendfsync") {
            Some("no") => Finding::new(
                "persistence",
                Verdict::Warning,
                "append-only file that the system writes when it likes",
                "CONFIG SET appendfsync everysec (or always): a crash of the machine would take back half a minute of work",
            ),
            Some(policy) => Finding::ok("persistence", format!("append-only file, {policy}")),
            None => Finding::ok("persistence", "append-only file"),
        });
    }
    match server.setting("save") {
        Some("") => Some(Finding::new(
            "persistence",
            Verdict::Warning,
            "none: a restart empties every queue",
            "CONFIG SET appendonly yes, unless losing all messages at a restart is fine",
        )),
        Some(_) => Some(Finding::new(
            "persistence",
            Verdict::Warning,
            "snapshots only: a crash takes back everything since the last one",
            "CONFIG SET appendonly yes: publishes would be lost, and settled messages come back",
        )),
        None => Some(Finding::new(
            "persistence",
            Verdict::Note,
            "no append-only file, and the server does not show its snapshots",
            "ask your provider what a restart takes back",
        )),
    }
}

fn last_save(server: &Server) -> Option<Finding> {
    let failed: Vec<&str> = [
        "rdb_last_bgsave_status",
        "aof_last_bgrewrite_status",
        "aof_last_write_status",
    ]
    .into_iter()
    .filter(|name| server.info(name).is_some_and(|status| status != "ok"))
    .collect();
    (!failed.is_empty()).then(|| {
        Finding::new(
            "last write to disk",
            Verdict::Problem,
            format!("failed: {}", failed.join(", ")),
            "look at the server's log and its disk: until it succeeds, writes may be refused (MISCONF)",
        )
    })
}

fn replicas(server: &Server) -> Option<Finding> {
    let replicas = server.count("connected_slaves");
    if replicas == 0 {
        return None;
    }
    Some(match server.setting("min-replicas-to-write") {
        Some("0") => Finding::new(
            "replicas",
            Verdict::Note,
            format!("{replicas}, and none has to follow"),
            "set min-replicas-to-write to 1: a cut-off primary would go on granting leases that a failover takes back",
        ),
        _ => Finding::ok("replicas", replicas.to_string()),
    })
}

fn idle_timeout(server: &Server) -> Option<Finding> {
    let seconds = server.setting("timeout")?;
    Some(match seconds {
        "0" => Finding::ok("timeout", "idle connections stay"),
        _ => Finding::new(
            "timeout",
            Verdict::Note,
            format!("idle connections are closed after {seconds} s"),
            "harmless: a closed connection is dialled again; CONFIG SET timeout 0 spares that",
        ),
    })
}

fn keepalive(server: &Server) -> Option<Finding> {
    let seconds = server.setting("tcp-keepalive")?;
    Some(match seconds {
        "0" => Finding::new(
            "tcp-keepalive",
            Verdict::Note,
            "off: the server keeps the connections of clients that vanished",
            "CONFIG SET tcp-keepalive 300",
        ),
        _ => Finding::ok("tcp-keepalive", format!("{seconds} s")),
    })
}

fn cluster(server: &Server) -> Option<Finding> {
    (server.count("cluster_enabled") != 0).then(|| {
        Finding::new(
            "cluster",
            Verdict::Note,
            "looked at the node that has the queue, and at no other one",
            "look at the others with a queue of theirs, or with `redis-cli --cluster check`",
        )
    })
}

fn clock(server: &Server) -> Option<Finding> {
    let found = format!(
        "{:.3} s {} this machine's",
        server.clock_ahead_ms.unsigned_abs() as f64 / 1000.0,
        if server.clock_ahead_ms < 0 {
            "behind"
        } else {
            "ahead of"
        }
    );
    Some(
        if server.clock_ahead_ms.unsigned_abs() <= CLOCK_TOLERANCE_MS {
            Finding::ok("clock", found)
        } else {
            Finding::new(
                "clock",
                Verdict::Note,
                found,
                "harmless: only the server's clock counts; but keep it steady, a jump ends leases early or late",
            )
        },
    )
}

fn round_trip(server: &Server) -> Option<Finding> {
    let micros = server.round_trip.as_micros();
    let found = format!("{:.2} ms", micros as f64 / 1000.0);
    Some(if micros <= SLOW_MICROS {
        Finding::ok("round trip", found)
    } else {
        Finding::new(
            "round trip",
            Verdict::Note,
            found,
            "run workers nearer to the server, or let them take several messages at once (--concurrency)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEALTHY: [(&str, &str); 6] = [
        ("redis_version", "7.0.15"),
        ("role", "master"),
        ("used_memory", "100"),
        ("maxmemory", "1000"),
        ("maxmemory_policy", "noeviction"),
        ("aof_enabled", "1"),
    ];

    /// The verdict on a healthy server with one difference.
    fn verdict(check: &str, info: &[(&str, &str)], config: &[(&str, &str)]) -> Verdict {
        let info: Vec<_> = HEALTHY.iter().chain(info).copied().collect();
        let findings = judge(&Server::with(&info, config));
        let finding = findings.iter().find(|finding| finding.check == check);
        let finding = finding.unwrap_or_else(|| panic!("{check} was not judged: {findings:?}"));
        assert_eq!(
            finding.advice.is_none(),
            finding.verdict == Verdict::Ok,
            "{finding:?}"
        );
        finding.verdict
    }

    #[test]
    fn a_healthy_server_is_found_so() {
        let findings = judge(&Server::with(
            &HEALTHY,
            &[
                ("appendfsync", "everysec"),
                ("timeout", "0"),
                ("tcp-keepalive", "300"),
            ],
        ));
        assert!(findings.len() >= 8);
        assert!(
            findings
                .iter()
                .all(|finding| finding.verdict == Verdict::Ok),
            "{findings:?}"
        );
    }

    #[test]
    fn each_fault_is_found() {
        use Verdict::{Note, Problem, Warning};
        for (check, info, config, expected) in [
            ("version", ("redis_version", "6.2.14"), ("", ""), Problem),
            ("version", ("redis_version", "garbage"), ("", ""), Problem),
            ("role", ("role", "slave"), ("", ""), Problem),
            ("loading", ("loading", "1"), ("", ""), Warning),
            ("maxmemory", ("used_memory", "999"), ("", ""), Warning),
            ("maxmemory", ("used_memory", "1000"), ("", ""), Problem),
            (
                "maxmemory-policy",
                ("maxmemory_policy", "allkeys-lru"),
                ("", ""),
                Problem,
            ),
            (
                "maxmemory-policy",
                ("", ""),
                ("maxmemory-policy", "volatile-lru"),
                Warning,
            ),
            ("maxmemory", ("maxmemory", "0"), ("", ""), Note),
            ("maxmemory", ("used_memory", "950"), ("", ""), Warning),
            ("persistence", ("aof_enabled", "0"), ("save", ""), Warning),
            (
                "persistence",
                ("aof_enabled", "0"),
                ("save", "3600 1"),
                Warning,
            ),
            ("persistence", ("aof_enabled", "0"), ("", ""), Note),
            ("persistence", ("", ""), ("appendfsync", "no"), Warning),
            (
                "last write to disk",
                ("aof_last_write_status", "err"),
                ("", ""),
                Problem,
            ),
            (
                "replicas",
                ("connected_slaves", "2"),
                ("min-replicas-to-write", "0"),
                Note,
            ),
            ("timeout", ("", ""), ("timeout", "300"), Note),
            ("tcp-keepalive", ("", ""), ("tcp-keepalive", "0"), Note),
            ("cluster", ("cluster_enabled", "1"), ("", ""), Note),
        ] {
            assert_eq!(
                verdict(check, &[info], &[config]),
                expected,
                "{check} {info:?} {config:?}"
            );
        }
    }

    #[test]
    fn clocks_and_distances_are_noted() {
        let mut server = Server::with(&HEALTHY, &[]);
        server.clock_ahead_ms = -5_000;
        server.round_trip = std::time::Duration::from_millis(40);
        let noted: Vec<_> = judge(&server)
            .into_iter()
            .filter(|f| f.verdict == Verdict::Note)
            .collect();
        assert_eq!(
            noted.iter().map(|f| f.check).collect::<Vec<_>>(),
            ["clock", "round trip"]
        );
        assert_eq!(noted[0].found, "5.000 s behind this machine's");
    }
}
