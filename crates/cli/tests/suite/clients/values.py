"""The everyday commands of each type of value, and of keys, through redis-py."""

import time

from journal import note, refused, styles, until, without


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
    refused("no number", client.incr, "text")
    refused("other type", client.lpush, "text", 1)


def lists(client):
    note("push", client.rpush("list", "b", "c"), client.lpush("list", "a", 0), client.llen("list"))
    note("range", client.lrange("list", 0, -1), client.lrange("list", -2, 9), client.lindex("list", 1))
    note("change", client.lset("list", 0, "z"), client.linsert("list", "before", "c", "y"))
    note("position", client.lpos("list", "c"), client.lpos("list", "x"), client.lpos("list", "c", count=0))
    note("remove", client.lrem("list", 0, "b"), client.ltrim("list", 0, 2), client.lrange("list", 0, -1))
    note("pop", client.lpop("list"), client.rpop("list", 2), client.lpop("list"), client.rpop("list", 2))
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
    note("has", client.hexists("hash", "a"), client.hexists("hash", "z"), client.hstrlen("hash", "c"))
    note("count", client.hincrby("hash", "a", 4), client.hsetnx("hash", "a", 1))
    note("delete", client.hdel("hash", "a", "z"), client.hdel("hash", "b", "c"), client.exists("hash"))


def sets(client):
    note("add", client.sadd("set", 1, "b", "c"), client.sadd("set", "c"), client.scard("set"))
    note("members", client.smembers("set"), client.smembers("nothing"))
    note("has", client.sismember("set", 1), client.sismember("set", 2), client.smismember("set", [1, 2]))
    client.sadd("other", "c", "d")
    note("both", client.sinter("set", "other"), client.sintercard(2, ["set", "other"]))
    note("either", client.sunion("set", "other"), client.sdiff("set", "other"))
    note("store", client.sunionstore("all", "set", "other"), client.sinterstore("one", "set", "other"))
    note("move", client.smove("set", "other", 1), client.smove("set", "other", 1), client.srem("set", "b", 9))
    note("by chance", client.srandmember("set"), client.srandmember("set", 5), client.srandmember("set", -3))
    note("pop", client.spop("set"), client.spop("set"), set(client.spop("other", 9)))
    note("scan", set(client.sscan_iter("all")), set(client.sscan_iter("all", match="[a-c]")))


def sorted_sets(client):
    note("add", client.zadd("board", {"a": 1, "b": 2.5, "c": 3}), client.zadd("board", {"a": 2}, ch=True))
    note("conditions", client.zadd("board", {"a": 1}, gt=True, ch=True), client.zadd("board", {"d": 4}, xx=True))
    note("increment", client.zincrby("board", 0.1, "b"), client.zadd("board", {"a": 0.5}, incr=True))
    note("score", client.zscore("board", "b"), client.zscore("board", "z"), client.zmscore("board", ["a", "z"]))
    note("range", client.zrange("board", 0, -1), client.zrange("board", 0, -1, withscores=True))
    note("reverse", client.zrevrange("board", 0, 0, withscores=True), client.zrange("board", 0, 0, desc=True))
    note("by score", client.zrangebyscore("board", "(2.5", "+inf", withscores=True, start=0, num=1))
    note("by score", client.zrange("board", 0, 9, byscore=True, offset=1, num=2, withscores=True))
    note("by name", client.zrange("board", "[b", "+", bylex=True), client.zlexcount("board", "-", "+"))
    note("rank", client.zrank("board", "b"), client.zrevrank("board", "b"), client.zrank("board", "z"))
    note("count", client.zcard("board"), client.zcount("board", 2, 3), client.zcount("board", "-inf", "(2"))
    client.zadd("other", {"c": 10, "e": float("inf")})
    note("either", client.zunion(["board", "other"], withscores=True), client.zunionstore("sum", ["board", "other"]))
    note("both", client.zinter(["board", "other"], aggregate="MAX", withscores=True), client.zdiff(["board", "other"]))
    note("pop", client.zpopmin("board"), client.zpopmax("board", 2), client.zpopmin("board"))
    note("pop of many", client.zmpop(2, ["board", "sum"], min=True, count=2), client.zmpop(1, ["board"], max=True))
    note("remove", client.zrem("sum", "c", "z"), client.zremrangebyscore("other", 0, 10), client.zremrangebyrank("other", 0, -1))
    client.zadd("one", {"only": 1e20})
    note("by chance", client.zrandmember("one"), client.zrandmember("one", 2, withscores=True))
    note("scan", list(client.zscan_iter("one")), client.bzpopmin("one", 1), client.bzpopmax("one", 0.01))
    refused("both conditions", client.execute_command, "ZADD", "one", "NX", "GT", "1", "a")


def streams(client):
    note("add", client.xadd("log", {"n": 1}, id="1-1"), client.xadd("log", {"n": 2, "m": "x"}, id="1-*"))
    note("add", client.xadd("log", {"n": 3}, id="2-0", maxlen=100), client.xadd("none", {"n": 1}, nomkstream=True))
    refused("smaller", client.xadd, "log", {"n": 4}, id="1-9")
    note("range", client.xlen("log"), client.xrange("log"), client.xrange("log", "(1-1", "+", count=1))
    note("reverse", client.xrevrange("log", count=2), client.xrange("nothing"))
    note("read", client.xread({"log": "1-1", "nothing": 0}, count=1), client.xread({"log": "2-0"}))
    note("groups", client.xgroup_create("log", "workers", id=0), client.xgroup_create("new", "g", mkstream=True))
    refused("group again", client.xgroup_create, "log", "workers")
    refused("no group", client.xreadgroup, "nobody", "one", {"log": ">"})
    note("take", client.xreadgroup("workers", "one", {"log": ">"}, count=2))
    note("pending", client.xpending("log", "workers"))
    rows = client.xpending_range("log", "workers", "-", "+", 10)
    note("pending", [without(row, "time_since_delivered") for row in rows])
    note("again", client.xreadgroup("workers", "one", {"log": 0}), client.xack("log", "workers", "1-1", "9-9"))
    note("claim", client.xclaim("log", "workers", "two", 0, ["1-2"]), client.xclaim("log", "workers", "two", 60000, ["1-2"]))
    note("claim all", client.xautoclaim("log", "workers", "three", 0), client.xautoclaim("log", "workers", "one", 0, justid=True))
    note("nothing new", client.xreadgroup("workers", "one", {"log": ">"}), client.xreadgroup("workers", "one", {"log": ">"}))
    note("groups", client.xinfo_groups("log"))
    note("consumers", [without(row, "idle", "inactive") for row in client.xinfo_consumers("log", "workers")])
    note("stream", client.xinfo_stream("log"))
    note("consumer", client.xgroup_createconsumer("log", "workers", "four"), client.xgroup_delconsumer("log", "workers", "one"))
    note("set id", client.xgroup_setid("log", "workers", "0"), client.xgroup_destroy("log", "workers"))
    note("delete", client.xdel("log", "1-1", "9-9"), client.xtrim("log", maxlen=1), client.xtrim("log", minid="3"))
    note("read for a while", client.xread({"log": "$"}, block=5))


def keys(client):
    client.mset({"a": 1, "b": 2, "user:1": "x", "user:2": "y", "us[r": "z"})
    note("exist", client.exists("a", "b", "a", "nothing"), client.type("a"), client.type("nothing"))
    note("find", set(client.keys("user:*")), set(client.keys("us[[]r")), client.dbsize())
    note("scan", set(client.scan_iter()), set(client.scan_iter(match="u*:?", count=1)), set(client.scan_iter(_type="list")))
    note("rename", client.rename("a", "c"), client.renamenx("c", "b"), client.get("c"))
    refused("rename nothing", client.rename, "a", "c")
    note("delete", client.delete("b", "nothing"), client.unlink("c"), client.touch("user:1", "c"))
    note("move", client.move("user:1", 1), client.move("user:1", 1), client.exists("user:1"))
    note("no time", client.ttl("user:2"), client.pttl("nothing"), client.expire("nothing", 5), client.persist("user:2"))
    note("time", client.expire("user:2", 100), 90 < client.ttl("user:2") <= 100, 90000 < client.pttl("user:2") <= 100000)
    note("conditions", client.expire("user:2", 10, nx=True), client.expire("user:2", 10, gt=True), client.expire("user:2", 10, lt=True))
    note("at", client.expireat("user:2", 4000000000), client.expiretime("user:2"), client.pexpiretime("user:2"))
    note("kept", client.set("user:2", 1, keepttl=True), client.expiretime("user:2"), client.persist("user:2"), client.ttl("user:2"))
    note("past", client.expireat("user:2", 1), client.exists("user:2"), client.set("us[r", 1), client.ttl("us[r"))
    note("soon", client.set("p", 1, px=30), client.psetex("q", 30, 1), client.setex("r", 1000, 1), client.hset("h", "a", 1), client.pexpire("h", 30))
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
    note("info", info["redis_version"], info["redis_mode"], info["role"], info["cluster_enabled"], info["loading"])
    note("keys", without(client.info("keyspace")["db0"], "avg_ttl"), client.info("cluster"))
    note("config", client.config_get("maxmemory*policy"), client.config_get("databases"), client.config_get("nothing"))
    note("commands", client.command_getkeys("SET", "key", "value"), client.command_count() > 100)
    note("wait", client.wait(0, 10), client.role()[0])
    refused("no command", client.execute_command, "NOSUCH", "a", "b")
    refused("too few", client.execute_command, "GET")
    refused("syntax", client.execute_command, "SET", "a", "b", "BOGUS")


for client, _ in styles():
    for steps in (strings, lists, hashes, sets, sorted_sets, streams, keys, servers):
        print(f"-- {steps.__name__}")
        client.flushall()
        steps(client)
