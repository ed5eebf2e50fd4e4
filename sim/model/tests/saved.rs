//! What the simulator needs beside commands: going back, and knowing what was written.

use std::collections::BTreeSet;
use std::time::Duration;

use leaseline_redis_model::{Clock, Content, Options, Profile, Reply, Server};

fn server() -> Server {
    Server::new(Options {
        profile: Profile::Redis70,
        clock: Clock::Virtual(1_700_000_000_000_000),
    })
}

#[test]
fn a_saved_state_comes_back_with_its_expiries() {
    let mut server = server();
    server.execute(&[b"RPUSH", b"list", b"one"]);
    server.execute(&[b"SET", b"short", b"v", b"PX", b"50"]);
    let saved = server.save();
    server.execute(&[b"RPUSH", b"list", b"two"]);
    server.execute(&[b"DEL", b"short"]);
    server.load(&saved);
    assert_eq!(server.execute(&[b"LLEN", b"list"]), Reply::Integer(1));
    assert_eq!(server.execute(&[b"EXISTS", b"short"]), Reply::Integer(1));
    server.advance(Duration::from_millis(51));
    server.load(&saved);
    assert_eq!(server.execute(&[b"EXISTS", b"short"]), Reply::Integer(0));
}

#[test]
fn written_keys_are_told_and_read_keys_are_not() {
    let mut server = server();
    server.note_writes();
    server.execute(&[b"LLEN", b"list"]);
    server.execute(&[
        b"EVAL",
        b"redis.call('LPUSH', 'list', 'a') redis.call('HSET', 'h', 'f', 'v') \
          redis.call('HDEL', 'h', 'f') redis.pcall('INCR', 'list') return redis.call('GET', 'x')",
        b"0",
    ]);
    let written: BTreeSet<Vec<u8>> = server.take_written().into_iter().collect();
    assert_eq!(written, BTreeSet::from([b"list".to_vec(), b"h".to_vec()]));
    assert!(server.take_written().is_empty());
    let entry = server.entry(b"list").expect("a list");
    assert_eq!(entry.content, Content::List(vec![b"a".to_vec()]));
    assert!(server.entry(b"h").is_none());
}

#[test]
fn scripts_can_outlive_a_reset() {
    let mut server = server();
    let Reply::Bulk(sha) = server.execute(&[b"SCRIPT", b"LOAD", b"return 7"]) else {
        panic!("no hash");
    };
    server.execute(&[b"SET", b"k", b"v"]);
    server.reset_with_scripts(Clock::Virtual(0));
    assert_eq!(server.scripts_run(), 0);
    assert_eq!(server.execute(&[b"EVALSHA", &sha, b"0"]), Reply::Integer(7));
    assert_eq!(server.scripts_run(), 1);
    assert_eq!(server.execute(&[b"EXISTS", b"k"]), Reply::Integer(0));
    server.reset(Clock::Virtual(0));
    assert!(matches!(
        server.execute(&[b"EVALSHA", &sha, b"0"]),
        Reply::Error(_)
    ));
    assert_eq!(server.scripts_run(), 1);
}
