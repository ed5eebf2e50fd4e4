"""Keys of any type, their times to live, and what the server tells of itself, through redis-py."""

import time

from journal import note, refused, runs, until, without


def keys(client):
    client.set("only", 1)
    note("any", client.randomkey(), client.delete("only"), client.randomkey())
    client.mset({"a": 1, "b": 2, "user:1": "x", "user:2": "y", "us[r": "z"})
    note("exist", client.exists("a", "b", "a", "nothing"), client.type("a"), client.type("nothing"))
    note("find", set(client.keys("user:*")), set(client.keys("us[[]r")), client.dbsize())
    note(
        "scan",
        set(client.scan_iter()),
        set(client.scan_iter(match="u*:?", count=1)),
        set(client.scan_iter(_type="list")),
    )
    note("rename", client.rename("a", "c"), client.renamenx("c", "b"), client.get("c"))
    note(
        "copy",
        client.copy("c", "a"),
        client.copy("b", "a"),
        client.copy("b", "a", replace=True),
        client.get("a"),
    )
    note(
        "encoding",
        client.object("encoding", "a"),
        client.object("encoding", "user:1"),
        client.delete("a"),
    )
    refused("rename nothing", client.rename, "a", "c")
    note("delete", client.delete("b", "nothing"), client.unlink("c"), client.touch("user:1", "c"))
    note("move", client.move("user:1", 1), client.move("user:1", 1), client.exists("user:1"))
    note(
        "no time",
        client.ttl("user:2"),
        client.pttl("nothing"),
        client.expire("nothing", 5),
        client.persist("user:2"),
    )
    note(
        "time",
        client.expire("user:2", 100),
        90 < client.ttl("user:2") <= 100,
        90000 < client.pttl("user:2") <= 100000,
    )
    note(
        "conditions",
        client.expire("user:2", 10, nx=True),
        client.expire("user:2", 10, gt=True),
        client.expire("user:2", 10, lt=True),
    )
    note(
        "at",
        client.expireat("user:2", 4000000000),
        client.expiretime("user:2"),
        client.pexpiretime("user:2"),
    )
    note(
        "kept",
        client.set("user:2", 1, keepttl=True),
        client.expiretime("user:2"),
        client.persist("user:2"),
        client.ttl("user:2"),
    )
    note(
        "past",
        client.expireat("user:2", 1),
        client.exists("user:2"),
        client.set("us[r", 1),
        client.ttl("us[r"),
    )
    note(
        "soon",
        client.set("p", 1, px=30),
        client.psetex("q", 30, 1),
        client.setex("r", 1000, 1),
        client.hset("h", "a", 1),
        client.pexpire("h", 30),
    )
    until("gone", lambda: client.exists("p", "q", "h") == 0)
    note("gone", client.get("p"), client.hgetall("h"), client.type("q"), sorted(client.keys()))
    note("flush", client.flushdb(), client.dbsize())


def servers(client):
    note("echo", client.ping(), client.echo("hello"), client.execute_command("PING", "hello"))
    seconds, microseconds = client.time()
    note("time", abs(seconds - time.time()) < 3600, 0 <= microseconds < 1000000)
    client.set("a", 1, ex=100)
    client.set("b", 1)
    info = client.info()
    note(
        "info",
        info["redis_version"][:4],
        info["redis_mode"],
        info["role"],
        info["cluster_enabled"],
        info["loading"],
    )
    note("keys", without(client.info("keyspace")["db0"], "avg_ttl"), client.info("cluster"))
    note(
        "config",
        client.config_get("maxmemory*policy"),
        client.config_get("databases"),
        client.config_get("nothing"),
    )
    note("commands", client.command_getkeys("SET", "key", "value"), client.command_count() > 100)
    note("wait", client.wait(0, 10), client.role()[0])
    refused("no command", client.execute_command, "NOSUCH", "a", "b")
    refused("too few", client.execute_command, "GET")
    refused("syntax", client.execute_command, "SET", "a", "b", "BOGUS")


for step, client, _ in runs(keys, servers):
    step(client)
