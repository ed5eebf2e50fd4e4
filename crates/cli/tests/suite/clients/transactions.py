"""Pipelines, transactions and scripts, through redis-py."""

import redis
from journal import connect, note, refused, runs


def pipelines(client, _):
    for transaction in (True, False):
        with client.pipeline(transaction=transaction) as pipeline:
            pipeline.set("a", 1).incr("a").rpush("list", 1, 2).lrange("list", 0, -1).hset(
                "hash", "f", "v"
            )
            pipeline.hgetall("hash").zadd("board", {"m": 1.5}).zrange(
                "board", 0, -1, withscores=True
            )
            pipeline.sadd("set", 1).smembers("set").ttl("a").xadd(
                "log", {"f": "v"}, id="*", nomkstream=True
            )
            note("pipeline", len(pipeline), pipeline.execute())
        with client.pipeline(transaction=transaction) as pipeline:
            pipeline.incr("a").lpush("a", 1).incr("a")
            note("one fails", pipeline.execute(raise_on_error=False))
            pipeline.incr("a").lpush("a", 1).incr("a")
            refused("one fails", pipeline.execute)
            note("nothing", pipeline.execute(), client.get("a"))
        with client.pipeline(transaction=transaction) as pipeline:
            pipeline.incr("a").execute_command("NOSUCH").incr("a")
            refused("one is no command", pipeline.execute)
            note("after it", client.get("a"))
        client.flushall()
    with client.pipeline(transaction=False) as pipeline:
        for number in range(10000):
            pipeline.set(f"key:{number}", "x" * (number % 100))
        note("many", set(pipeline.execute()), client.dbsize())


def watching(client, options):
    other = connect(options)
    with client.pipeline() as pipeline:
        pipeline.watch("a")
        before = pipeline.get("a")
        pipeline.multi()
        pipeline.set("a", "mine")
        note("nobody between", before, pipeline.execute(), client.get("a"))
        for change in (
            lambda: other.set("a", "theirs"),
            lambda: other.delete("a"),
            lambda: other.get("a"),
        ):
            pipeline.watch("a", "b")
            change()
            pipeline.multi()
            pipeline.set("b", "mine")
            try:
                note("kept", pipeline.execute())
            except redis.WatchError as error:
                note("lost", error, client.get("b"))
        pipeline.watch("a")
        other.set("a", "theirs")
        pipeline.unwatch()
        note("forgotten", pipeline.get("a").set("b", "mine").execute())

    tries = []

    def double(pipeline):
        tries.append(int(pipeline.get("number") or 0))
        if len(tries) < 3:
            other.incr("number", 5)
        pipeline.multi()
        pipeline.set("number", tries[-1] * 2)

    note("until it succeeds", client.transaction(double, "number"), tries, client.get("number"))
    note("a value", client.transaction(lambda pipeline: 7, "number", value_from_callable=True))
    other.close()


def scripts(client, _):
    keep = client.register_script(
        """
        redis.call('SET', KEYS[1], ARGV[1])
        return {redis.call('GET', KEYS[1]), 1, 3.7, {'a', {2}}, {ok = 'FINE'}, false, 9}
        """
    )
    note("not known", client.script_exists(keep.sha))
    refused("by its hash", client.evalsha, keep.sha, 1, "k", "v")
    note("called", keep(keys=["k"], args=["v"]), client.script_exists(keep.sha))
    note("by its hash", client.evalsha(keep.sha, 1, "k", "w"))
    note(
        "forgotten",
        client.script_flush(),
        client.script_exists(keep.sha),
        keep(keys=["k"], args=["x"]),
    )
    client.script_flush()
    with client.pipeline() as pipeline:
        keep(keys=["k"], args=["y"], client=pipeline)
        pipeline.get("k")
        note("in a pipeline", pipeline.execute())
    note("load", client.script_load("return ARGV[1] + 1"), client.eval("return ARGV[1] + 1", 0, 41))
    note(
        "values",
        client.eval("return {true, false}", 0),
        client.eval("return redis.status_reply('GOOD')", 0),
        client.eval("return nil", 0),
    )
    note(
        "json",
        client.eval(
            "return cjson.encode(cjson.decode(ARGV[1]))", 0, '{"a":[1,2,{"b":null}],"c":1.5}'
        ),
    )
    note("caught", client.eval("local e = redis.pcall('LPUSH', KEYS[1], 1) return e.err", 1, "k"))
    note(
        "table", client.eval("redis.call('HSET', 'h', 'a', 1) return redis.call('HGETALL', 'h')", 0)
    )
    refused("of a command", client.eval, "return redis.call('LPUSH', KEYS[1], 1)", 1, "k")
    refused("of the script", client.eval, "error('own text')", 0)
    refused("its own kind", client.eval, "return redis.error_reply('MINE own text')", 0)
    refused("a global", client.eval, "x = 1", 0)
    refused("no script", client.eval, "return (", 0)
    refused("no command", client.eval, "return redis.call('NOSUCH')", 0)
    refused("reading only", client.eval_ro, "return redis.call('SET', KEYS[1], 1)", 1, "k")
    note("reading only", client.eval_ro("return redis.call('GET', KEYS[1])", 1, "k"))


for step, client, options in runs(pipelines, watching, scripts):
    step(client, options)
