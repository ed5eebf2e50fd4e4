//! Scripts without an end: each is stopped with an error, and the server goes on.

use leaseline_redis_model::{Clock, Options, Profile, Reply, Server};

/// Each of them runs, or takes memory, for longer than a test may take.
const SCRIPTS: &[&str] = &[
    "local function f() return f() end return f()",
    "while true do end",
    "repeat until false",
    "pcall(function() while true do end end) return 1",
    "while true do pcall(function() while true do end end) end",
    "local t={} while true do t[#t+1]=string.rep('x',1000) end",
    "local s='x' while true do s=s..s end",
    "local s='x' pcall(function() while true do s=s..s end end) return #s",
    "return string.rep('x',1e10)",
    "return (('a'):rep(100000)):match(('.-'):rep(50)..'b')",
    "return (('a'):rep(1e6)):find(('a?'):rep(30)..'b')",
    "return string.gsub(('a'):rep(1e6),'a',function(c) return c:rep(1000) end)",
    "table.insert({},-2^31,1)",
    "table.insert({},1e15,2^31)",
    "for i=1,1e15 do end",
    "local t={} for i=1,1e8 do t[i]=i end return #t",
    "return setmetatable({},{__index=function() while true do end end}).x",
    "collectgarbage('stop') local t={} while true do t[#t+1]={} end",
    "return string.find(('('):rep(1e5),'%b()')",
    "local s=('a'):rep(3e5) return s:find('.*.*.*.*.*b')",
];

const MEMORY: usize = 64 << 20;

fn server() -> Server {
    let mut server = Server::new(Options {
        profile: Profile::Redis70,
        clock: Clock::Virtual(1_700_000_000_000_000),
    });
    server.set_instruction_limit(20_000_000);
    server.set_script_memory_limit(MEMORY);
    server
}

fn run(server: &mut Server, script: &str) -> Reply {
    server.execute(&[b"EVAL", script.as_bytes(), b"0"])
}

#[test]
fn endless_scripts_are_stopped() {
    let mut server = server();
    for script in SCRIPTS {
        let reply = run(&mut server, script);
        let error = reply.error().unwrap_or_default();
        let stopped = error.contains("leaseline-redis-model stops after");
        assert!(stopped, "{script}: {reply:?}");
        assert_eq!(
            run(&mut server, "return #('x'):rep(1000)"),
            Reply::Integer(1000)
        );
    }
}

#[test]
fn what_a_stopped_script_wrote_stays() {
    let mut server = server();
    run(&mut server, "redis.call('SET', 'k', 'v') while true do end");
    assert_eq!(server.execute(&[b"GET", b"k"]), Reply::Bulk(b"v".to_vec()));
}

#[test]
fn replies_that_nest_too_deep_are_refused() {
    let mut server = server();
    let reply = run(
        &mut server,
        "local t = {} for i = 1, 1e5 do t = {t} end return t",
    );
    let error = reply.error().unwrap_or_default();
    assert!(error.contains("nest deeper than 1000"), "{reply:?}");
    assert_eq!(server.unsupported().len(), 1);
}

#[test]
fn a_coroutine_that_could_not_be_resumed_is_not_written_to_once_it_is_gone() {
    let mut server = server();
    let resume = "coroutine.resume(c, 1, 2, 3, 4, unpack({}, 1, 7996))";
    let wrap = "coroutine.wrap(function() end)(1, 2, 3, 4, unpack({}, 1, 7996))";
    for refused in [
        format!("pcall(function() {resume} end)"),
        format!("xpcall(function() {resume} end, type)"),
        format!("load(function() {resume} end)"),
        format!("pcall(function() {wrap} end)"),
    ] {
        let script = format!(
            "local c = coroutine.create(function() end) {refused} c = nil collectgarbage() \
             local kept = {{}} \
             for i = 1, 4000 do kept[i] = string.rep('x', 60 + i % 160) .. i end \
             local large = string.rep('y', 2^20 + ARGV[1]) \
             for i = 1, 4000 do \
                 if kept[i] ~= string.rep('x', 60 + i % 160) .. i then return 'overwritten' end \
             end \
             return 'whole'"
        );
        for round in 0..10 {
            let round = round.to_string();
            let reply = server.execute(&[b"EVAL", script.as_bytes(), b"0", round.as_bytes()]);
            assert_eq!(reply, Reply::Bulk(b"whole".to_vec()), "{refused}");
        }
    }
}
