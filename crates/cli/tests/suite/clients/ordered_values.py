"""Sorted sets and streams, through redis-py."""

from journal import note, refused, runs, without


def sorted_sets(client):
    note(
        "add",
        client.zadd("board", {"a": 1, "b": 2.5, "c": 3}),
        client.zadd("board", {"a": 2}, ch=True),
    )
    note(
        "conditions",
        client.zadd("board", {"a": 1}, gt=True, ch=True),
        client.zadd("board", {"d": 4}, xx=True),
    )
    note(
        "increment", client.zincrby("board", 0.1, "b"), client.zadd("board", {"a": 0.5}, incr=True)
    )
    note(
        "score",
        client.zscore("board", "b"),
        client.zscore("board", "z"),
        client.zmscore("board", ["a", "z"]),
    )
    note("range", client.zrange("board", 0, -1), client.zrange("board", 0, -1, withscores=True))
    note(
        "reverse",
        client.zrevrange("board", 0, 0, withscores=True),
        client.zrange("board", 0, 0, desc=True),
    )
    note("by score", client.zrangebyscore("board", "(2.5", "+inf", withscores=True, start=0, num=1))
    note("by score", client.zrange("board", 0, 9, byscore=True, offset=1, num=2, withscores=True))
    note(
        "by name",
        client.zrange("board", "[b", "+", bylex=True),
        client.zlexcount("board", "-", "+"),
    )
    note(
        "rank",
        client.zrank("board", "b"),
        client.zrevrank("board", "b"),
        client.zrank("board", "z"),
    )
    note(
        "count",
        client.zcard("board"),
        client.zcount("board", 2, 3),
        client.zcount("board", "-inf", "(2"),
    )
    client.zadd("other", {"c": 10, "e": float("inf")})
    note(
        "either",
        client.zunion(["board", "other"], withscores=True),
        client.zunionstore("sum", ["board", "other"]),
    )
    note(
        "both",
        client.zinter(["board", "other"], aggregate="MAX", withscores=True),
        client.zdiff(["board", "other"]),
    )
    note("pop", client.zpopmin("board"), client.zpopmax("board", 2), client.zpopmin("board"))
    note(
        "pop of many",
        client.zmpop(2, ["board", "sum"], min=True, count=2),
        client.zmpop(1, ["board"], max=True),
    )
    note(
        "remove",
        client.zrem("sum", "c", "z"),
        client.zremrangebyscore("other", 0, 10),
        client.zremrangebyrank("other", 0, -1),
    )
    client.zadd("one", {"only": 1e20})
    note("by chance", client.zrandmember("one"), client.zrandmember("one", 2, withscores=True))
    note(
        "scan",
        list(client.zscan_iter("one")),
        client.bzpopmin("one", 1),
        client.bzpopmax("one", 0.01),
    )
    refused("both conditions", client.execute_command, "ZADD", "one", "NX", "GT", "1", "a")


def streams(client):
    note(
        "add",
        client.xadd("log", {"n": 1}, id="1-1"),
        client.xadd("log", {"n": 2, "m": "x"}, id="1-*"),
    )
    note(
        "add",
        client.xadd("log", {"n": 3}, id="2-0", maxlen=100),
        client.xadd("none", {"n": 1}, nomkstream=True),
    )
    refused("smaller", client.xadd, "log", {"n": 4}, id="1-9")
    note(
        "range",
        client.xlen("log"),
        client.xrange("log"),
        client.xrange("log", "(1-1", "+", count=1),
    )
    note("reverse", client.xrevrange("log", count=2), client.xrange("nothing"))
    note("read", client.xread({"log": "1-1", "nothing": 0}, count=1), client.xread({"log": "2-0"}))
    note(
        "groups",
        client.xgroup_create("log", "workers", id=0),
        client.xgroup_create("new", "g", mkstream=True),
    )
    refused("group again", client.xgroup_create, "log", "workers")
    refused("no group", client.xreadgroup, "nobody", "one", {"log": ">"})
    note("take", client.xreadgroup("workers", "one", {"log": ">"}, count=2))
    note("pending", client.xpending("log", "workers"))
    rows = client.xpending_range("log", "workers", "-", "+", 10)
    note("pending", [without(row, "time_since_delivered") for row in rows])
    note(
        "again",
        client.xreadgroup("workers", "one", {"log": 0}),
        client.xack("log", "workers", "1-1", "9-9"),
    )
    note(
        "claim",
        client.xclaim("log", "workers", "two", 0, ["1-2"]),
        client.xclaim("log", "workers", "two", 60000, ["1-2"]),
    )
    note(
        "claim all",
        client.xautoclaim("log", "workers", "three", 0),
        client.xautoclaim("log", "workers", "one", 0, justid=True),
    )
    note(
        "nothing new",
        client.xreadgroup("workers", "one", {"log": ">"}),
        client.xreadgroup("workers", "one", {"log": ">"}),
    )
    note("groups", client.xinfo_groups("log"))
    note(
        "consumers",
        [without(row, "idle", "inactive") for row in client.xinfo_consumers("log", "workers")],
    )
    note("stream", client.xinfo_stream("log"))
    note(
        "consumer",
        client.xgroup_createconsumer("log", "workers", "four"),
        client.xgroup_delconsumer("log", "workers", "one"),
    )
    note(
        "set id",
        client.xgroup_setid("log", "workers", "0"),
        client.xgroup_destroy("log", "workers"),
    )
    note(
        "delete",
        client.xdel("log", "1-1", "9-9"),
        client.xtrim("log", maxlen=1),
        client.xtrim("log", minid="3"),
    )
    note("read for a while", client.xread({"log": "$"}, block=5))


for step, client, _ in runs(sorted_sets, streams):
    step(client)
