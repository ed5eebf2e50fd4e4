"""redis.asyncio: the same commands, many of them at once, on few connections."""

import asyncio

import redis
import redis.asyncio
from journal import STYLES, URL, note


def connect(options):
    return redis.asyncio.Redis.from_url(URL, **options)


async def until_blocked(client, count=1):
    async with asyncio.timeout(30):
        while (await client.info("clients"))["blocked_clients"] != count:
            await asyncio.sleep(0.01)


async def values(client, _):
    note("text", await client.set("a", 1, ex=100), await client.get("a"), await client.incr("a"))
    note(
        "list",
        await client.rpush("l", 1, 2, 3),
        await client.lrange("l", 0, -1),
        await client.lmove("l", "m"),
    )
    note("hash", await client.hset("h", mapping={"a": 1, "b": 2}), await client.hgetall("h"))
    note("set", await client.sadd("s", 1, 2), await client.smembers("s"))
    note(
        "board",
        await client.zadd("z", {"a": 1.5}),
        await client.zrange("z", 0, -1, withscores=True),
    )
    note("stream", await client.xadd("x", {"a": 1}, id="1-1"), await client.xread({"x": 0}))
    note("scan", {key async for key in client.scan_iter(match="?")})


async def at_once(client, options):
    answers = await asyncio.gather(*(client.incrby("number", step) for step in range(100)))
    note("sum", max(answers), await client.get("number"))
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        URL, max_connections=2, timeout=30, **options
    )
    pooled = redis.asyncio.Redis.from_pool(pool)
    answers = await asyncio.gather(*(pooled.incr("other") for _ in range(100)))
    note("in turn", sorted(answers) == list(range(1, 101)))
    await pooled.aclose()


async def transactions(client, options):
    async with client.pipeline(transaction=True) as pipeline:
        note("pipeline", await pipeline.set("a", 1).incr("a").lrange("nothing", 0, -1).execute())
    async with client.pipeline(transaction=False) as pipeline:
        note("no transaction", await pipeline.incr("a").lpush("a", 1).execute(raise_on_error=False))
    other = connect(options)
    async with client.pipeline() as pipeline:
        await pipeline.watch("a")
        await other.set("a", 9)
        pipeline.multi()
        pipeline.set("a", 1)
        try:
            note("kept", await pipeline.execute())
        except redis.WatchError as error:
            note("lost", error)
    add = client.register_script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
    note(
        "script",
        await add(keys=["a"], args=[5]),
        await client.script_flush(),
        await add(keys=["a"], args=[5]),
    )
    await other.aclose()


async def waiting(client, options):
    waiter = connect(options)
    call = asyncio.create_task(waiter.blpop(["a", "b"], timeout=30))
    await until_blocked(client)
    note("woken", await client.rpush("b", 1), await call)
    call = asyncio.create_task(waiter.blmove("from", "to", 30))
    await until_blocked(client)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    await until_blocked(client, 0)
    note("cancelled", await client.rpush("from", 1), await client.lrange("from", 0, -1))
    note("in vain", await waiter.blpop("nothing", timeout=0.02))
    note("the same client", await waiter.blpop("from", timeout=30))
    await waiter.aclose()


async def channels(client, options):
    async with client.pubsub() as subscriber:
        await subscriber.subscribe("news")
        await subscriber.psubscribe("n*")

        def next_message():
            return subscriber.get_message(timeout=30)

        note("subscribed", await next_message(), await next_message())
        note("heard", await client.publish("news", "x"), await next_message(), await next_message())
        await subscriber.unsubscribe("news")
        note("left", await next_message())


async def locks(client, options):
    async def count():
        for _ in range(10):
            async with client.lock("counting", timeout=60, sleep=0.001):
                await client.set("number", int(await client.get("number") or 0) + 1)

    await asyncio.gather(*(count() for _ in range(4)))
    note("counted", await client.get("number"), await client.exists("counting"))


async def main():
    for name, options in STYLES.items():
        print(f"== {name}")
        client = connect(options)
        for steps in (values, at_once, transactions, waiting, channels, locks):
            print(f"-- {steps.__name__}")
            await client.flushall()
            await steps(client, options)
        await client.aclose()


asyncio.run(main())
