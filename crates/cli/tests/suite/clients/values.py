"""Strings, lists, hashes and sets, through redis-py."""

from journal import note, refused, runs


def strings(client):
    note("set", client.set("text", "a"), client.get("text"), client.get("nothing"))
    note("set nx", client.set("text", "b", nx=True), client.set("new", "b", nx=True))
    note("set xx", client.set("text", "c", xx=True), client.set("nothing", "c", xx=True))
    note("set get", client.set("text", "d", get=True), client.getset("text", "e"))
    note("any bytes", client.set("r\u00e9sum\u00e9", "\u4e2d\r\n"), client.get("r\u00e9sum\u00e9"))
    note("count", client.incr("count"), client.incrby("count", 41), client.decr("count", 2))
    note("append", client.append("text", "fg"), client.strlen("text"))
    note("many", client.mset({"m1": 1, "m2": 2.5}), client.mget("m1", "m2", "nothing"))
    note("setnx", client.setnx("m1", 2), client.getdel("m1"), client.getdel("m1"))
    note(
        "parts", client.getrange("text", 1, -2), client.setrange("text", 5, "!"), client.get("text")
    )
    note(
        "float",
        client.incrbyfloat("m2", 0.1),
        client.msetnx({"m2": 1, "m3": 1}),
        client.lcs("text", "text"),
    )
    note(
        "time",
        client.getex("text", ex=100),
        90 < client.ttl("text") <= 100,
        client.getex("text", persist=True),
        client.ttl("text"),
    )
    note(
        "bits",
        client.setbit("bits", 7, 1),
        client.getbit("bits", 7),
        client.bitcount("bits"),
        client.bitpos("bits", 1),
    )
    note(
        "bits",
        client.bitop("NOT", "not", "bits"),
        client.bitfield("bits").incrby("u4", 4, 3).get("u8", 0).execute(),
    )
    refused("no number", client.incr, "text")
    refused("other type", client.lpush, "text", 1)


def lists(client):
    note("push", client.rpush("list", "b", "c"), client.lpush("list", "a", 0), client.llen("list"))
    note(
        "range",
        client.lrange("list", 0, -1),
        client.lrange("list", -2, 9),
        client.lindex("list", 1),
    )
    note("change", client.lset("list", 0, "z"), client.linsert("list", "before", "c", "y"))
    note(
        "position",
        client.lpos("list", "c"),
        client.lpos("list", "x"),
        client.lpos("list", "c", count=0),
    )
    note(
        "remove",
        client.lrem("list", 0, "b"),
        client.ltrim("list", 0, 2),
        client.lrange("list", 0, -1),
    )
    note(
        "pop",
        client.lpop("list"),
        client.rpop("list", 2),
        client.lpop("list"),
        client.rpop("list", 2),
    )
    note("only there", client.lpushx("list", 1), client.rpushx("list", 1))
    client.rpush("list", 1, 2, 3)
    note("move", client.lmove("list", "other", "LEFT", "RIGHT"), client.rpoplpush("list", "other"))
    note("pop of many", client.lmpop(2, "nothing", "other", direction="RIGHT", count=5))
    note("pop of none", client.lmpop(1, "nothing", direction="LEFT"))
    refused("no such index", client.lset, "list", 9, "x")


def hashes(client):
    note("set", client.hset("hash", mapping={"a": 1, "b": "x"}), client.hset("hash", "c", 2.5))
    note("get", client.hget("hash", "a"), client.hget("hash", "z"), client.hmget("hash", "b", "z"))
    note("all", client.hgetall("hash"), client.hgetall("nothing"))
    note("names", client.hkeys("hash"), client.hvals("hash"), client.hlen("hash"))
    note(
        "has", client.hexists("hash", "a"), client.hexists("hash", "z"), client.hstrlen("hash", "c")
    )
    note("count", client.hincrby("hash", "a", 4), client.hsetnx("hash", "a", 1))
    note(
        "float",
        client.hincrbyfloat("hash", "c", 0.2),
        client.hrandfield("hash", 9),
        client.hrandfield("hash", 9, True),
    )
    note("scan", dict(client.hscan_iter("hash")), dict(client.hscan_iter("hash", match="[ab]")))
    note(
        "delete",
        client.hdel("hash", "a", "z"),
        client.hdel("hash", "b", "c"),
        client.exists("hash"),
    )


def sets(client):
    note("add", client.sadd("set", 1, "b", "c"), client.sadd("set", "c"), client.scard("set"))
    note("members", client.smembers("set"), client.smembers("nothing"))
    note(
        "has",
        client.sismember("set", 1),
        client.sismember("set", 2),
        client.smismember("set", [1, 2]),
    )
    client.sadd("other", "c", "d")
    note("both", client.sinter("set", "other"), client.sintercard(2, ["set", "other"]))
    note("either", client.sunion("set", "other"), client.sdiff("set", "other"))
    note(
        "store",
        client.sunionstore("all", "set", "other"),
        client.sinterstore("one", "set", "other"),
    )
    note(
        "move",
        client.smove("set", "other", 1),
        client.smove("set", "other", 1),
        client.srem("set", "b", 9),
    )
    note(
        "by chance",
        client.srandmember("set"),
        client.srandmember("set", 5),
        client.srandmember("set", -3),
    )
    note("pop", client.spop("set"), client.spop("set"), set(client.spop("other", 9)))
    note("scan", set(client.sscan_iter("all")), set(client.sscan_iter("all", match="[a-c]")))


for step, client, _ in runs(strings, lists, hashes, sets):
    step(client)
