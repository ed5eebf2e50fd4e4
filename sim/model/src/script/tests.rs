//! Scripts as clients see them: limits, faults and what the server reports about them.

use std::time::Duration;

use crate::test_server::{START_MS, TestServer};
use crate::{Condition, Reply, ScriptTime};

const SUFFIX: &str = ", on @user_script:1.";

/// An error raised by a script, without the hash in its text.
fn raised(server: &mut TestServer, script: &str) -> String {
    let reply = server.execute(&[b"EVAL", script.as_bytes(), b"0"]);
    let line = reply.error().expect("an error").into_owned();
    let (text, place) = line.split_once(" script: ").expect("a script's name");
    assert!(place.ends_with(SUFFIX), "{line}");
    text.to_owned()
}

#[test]
fn every_call_can_be_made_to_fail() {
    let mut server = TestServer::new();
    let script = "redis.call('SET', 'a', 1) local r = redis.pcall('SET', 'b', 1) \
                  redis.call('SET', 'c', 1) return r";
    server.fail_script_call(2, "OOM planned");
    server.expect_script(script, "-OOM planned");
    server.expect("MGET a b c", "*3 $1 1 $-1 $1 1");
    assert_eq!(server.script_calls(), 3);
    server.run("FLUSHALL");
    server.fail_script_call(3, "OOM planned");
    assert_eq!(raised(&mut server, script), "OOM planned");
    server.expect("MGET a b c", "*3 $1 1 $1 1 $-1");
    // The order is used up, also by a script that ends before its turn.
    server.expect_script(script, "+OK");
    server.fail_script_call(9, "OOM planned");
    server.expect_script("return 1", ":1");
    server.expect_script(script, "+OK");
}

#[test]
fn denied_commands_are_refused_to_scripts_only() {
    let mut server = TestServer::new();
    server.deny_command("ZADD");
    let script = "return redis.call('zadd', 'z', 1, 'a')";
    assert_eq!(
        raised(&mut server, script),
        "ERR The user executing the script can't run this command or subcommand"
    );
    server.expect_script(
        "return tostring(redis.acl_check_cmd('zadd', 'z'))",
        "$5 false",
    );
    server.expect("ZADD z 1 b", ":1");
    server.allow_all();
    server.expect_script(script, ":1");
}

#[test]
fn undeclared_keys_are_recorded() {
    let mut server = TestServer::new();
    server.run("EVAL 'redis.call(\"MSET\", KEYS[1], 1, \"b\", 2) redis.call(\"GET\", \"c\")' 1 a");
    let keys: Vec<_> = server.undeclared_keys().map(<[u8]>::to_vec).collect();
    assert_eq!(keys, [b"b", b"c"]);
    server.expect_script("return 1", ":1");
    assert_eq!(server.undeclared_keys().count(), 0);
}

#[test]
fn the_first_write_decides_about_memory() {
    let mut server = TestServer::new();
    server.run("SET str v");
    server.impose(Condition::OutOfMemory);
    let oom = "OOM command not allowed when used memory > 'maxmemory'.";
    server.expect("SET a 1", &format!("-{oom}"));
    server.expect("DEL none", ":0");
    assert_eq!(raised(&mut server, "return redis.call('set','a','1')"), oom);
    server.expect_script("return redis.pcall('set','a','1')", &format!("-{oom}"));
    for first in ["redis.call('del','none')", "redis.pcall('lpop','str')"] {
        server.expect_script(&format!("{first} return redis.call('set','a','1')"), "+OK");
    }
    let refused = "redis.pcall('set','e','1') return redis.call('set','e','2')";
    assert_eq!(raised(&mut server, refused), oom);
    server.expect_script(
        "redis.pcall('set','c','1') redis.call('del','none') redis.call('set','d','1') \
         return {redis.call('exists','c'), redis.call('exists','d')}",
        "*2 :0 :1",
    );
    server.expect_script("#!lua\nreturn 1", &format!("-{oom}"));
    server.expect_script(
        "#!lua flags=allow-oom\nreturn redis.call('set','f','1')",
        "+OK",
    );
    server.expect_script(
        "#!lua flags=no-writes\nreturn redis.call('get','f')",
        "$1 1",
    );
}

#[test]
fn time_stands_still_or_moves_with_each_call() {
    let mut server = TestServer::new();
    let script = "local a = redis.call('TIME') redis.call('SET', 'k', 'v', 'PX', 5) \
                  local b = redis.call('TIME') \
                  return {b[2] - a[2], redis.call('PEXPIRETIME', 'k'), redis.call('EXISTS', 'k')}";
    server.expect_script(script, &format!("*3 :0 :{} :1", START_MS + 5));
    server.set_script_time(ScriptTime::Live {
        per_call: Duration::from_millis(10),
    });
    // The key has expired by the clock, but not for the script that looks.
    server.expect_script(script, &format!("*3 :20000 :{} :1", START_MS + 25));
    server.expect("EXISTS k", ":0");
}

#[test]
fn endless_loops_are_stopped() {
    let mut server = TestServer::new();
    server.set_instruction_limit(1_000_000);
    let text = "ERR user_script:1: leaseline-redis-model stops after so many instructions";
    assert_eq!(raised(&mut server, "while true do end"), text);
    let stubborn = "local function loop() while true do end end while true do pcall(loop) end";
    assert_eq!(raised(&mut server, stubborn), text);
    let inside = "local f = coroutine.wrap(function() while true do end end) f()";
    assert!(
        server
            .execute(&[b"EVAL", inside.as_bytes(), b"0"])
            .error()
            .is_some()
    );
    server.expect_script("return 1", ":1");
}

#[test]
fn gaps_say_so() {
    let mut server = TestServer::new();
    server.expect_script(
        "error({})",
        "-ERR leaseline-redis-model does not support raising a table without err, which kills \
         Redis 7.0.15",
    );
    server.expect_script(
        "local t = {} t[1] = t return t",
        "-ERR leaseline-redis-model does not support replies that nest deeper than 1000 levels",
    );
    assert_eq!(server.unsupported().len(), 2);
}

#[test]
fn newer_scripts_may_call_what_blocks() {
    let script = "return redis.pcall('BLPOP', 'l', 0)";
    let mut server = TestServer::new();
    server.expect_script(script, "-ERR This Redis command is not allowed from script");
    let mut newer = TestServer::with_profile(crate::Profile::Redis72);
    newer.expect_script(script, "$-1");
}

#[test]
fn numbers_become_arguments_by_the_rules_of_the_version() {
    let script = "redis.call('SET', 'k', 0.1) redis.call('APPEND', 'k', 1e17) \
                  return redis.call('GET', 'k')";
    TestServer::new().expect_script(script, "$24 0.100000000000000011e+17");
    let mut newer = TestServer::with_profile(crate::Profile::Redis72);
    newer.expect_script(script, "$21 0.1100000000000000000");
}

#[test]
fn reset_forgets_data_and_scripts() {
    let mut server = TestServer::new();
    server.expect_script(
        "cjson.encode_number_precision(3) return redis.call('INCR', 'n')",
        ":1",
    );
    let clock = crate::Clock::Virtual(7);
    server.reset(clock);
    assert!(server.dump().is_empty());
    assert_eq!(server.time_us(), 7);
    server.expect(
        "EVALSHA 4ca238f611c9d0ae4e9a75a5dbac22aedc1e44bd 0",
        "-NOSCRIPT No matching script. Please use EVAL.",
    );
    server.expect_script("return cjson.encode(0.1234)", "$6 0.1234");
}

#[test]
fn a_server_can_move_to_another_thread() {
    let mut server = TestServer::new();
    server.expect_script("return redis.call('INCR', 'n')", ":1");
    let reply = std::thread::spawn(move || {
        server.expect_script("return redis.call('INCR', 'n')", ":2");
    });
    assert!(reply.join().is_ok());
}

#[test]
fn a_new_server_knows_nothing_of_one_that_is_gone() {
    let chance = "EVAL return(math.random(1000000)) 0";
    let mut first = TestServer::new();
    let drawn = first.run(chance);
    let loaded = first.run("SCRIPT LOAD return(redis.sha1hex('gone'))");
    first.run("EVAL cjson.encode_sparse_array(true) 0");
    drop(first);
    let mut second = TestServer::new();
    assert_eq!(second.run(chance), drawn);
    let Reply::Bulk(sha) = loaded else {
        panic!("not loaded: {loaded:?}");
    };
    let sha = String::from_utf8_lossy(&sha);
    second.expect(
        &format!("EVALSHA {sha} 0"),
        "-NOSCRIPT No matching script. Please use EVAL.",
    );
    let reply = second.run("EVAL return(cjson.encode({[1000]=1})) 0");
    assert!(reply.error().is_some(), "{reply:?}");
}

#[test]
fn texts_keep_every_byte() {
    let mut server = TestServer::new();
    for (script, reply) in [
        (&b"return {err='a\\r\\n\xff\\n'}"[..], &b"-a  \xff\r\n"[..]),
        (b"return {ok='\xff\xfe'}", b"+\xff\xfe\r\n"),
        (b"return redis.error_reply('\xff x')", b"-\xff x\r\n"),
        (b"return redis.status_reply('\xff')", b"+\xff\r\n"),
        (
            b"error('\xff')",
            b"-ERR user_script:1: \xff script: f06b0c67968eea2c08efbd9ee4af33eae8d11fcc, on \
              @user_script:1.\r\n",
        ),
        (
            b"return \xff",
            b"-ERR Error compiling script (new function): user_script:1: unexpected symbol near \
              '\xff'\r\n",
        ),
        (
            b"#!lua flags=\xff\nreturn 1",
            b"-ERR Unexpected flag in script shebang: \xff\r\n",
        ),
    ] {
        let bytes = server.execute(&[b"EVAL", script, b"0"]).to_resp2();
        assert_eq!(
            bytes.escape_ascii().to_string(),
            reply.escape_ascii().to_string()
        );
    }
}
