"""redis-message-queue in its asyncio form."""

import asyncio

import redis.asyncio
from journal import STYLES, URL, connect, note
from queues import Events, expire_leases, note_keys, number_ids, payload
from redis_message_queue import QueueBackpressureError, QueueDrainedError
from redis_message_queue.asyncio import RedisMessageQueue


class HandlerFailed(Exception):
    pass


async def publishing(client, _):
    events = Events()
    queue = RedisMessageQueue(
        "jobs",
        client=client,
        deduplication=True,
        get_deduplication_key=lambda message: message["id"],
        on_event=events,
        max_pending_length=2,
    )
    for id in ("a", "a", "b", "c"):
        try:
            note("publish", id, await queue.publish({"id": id}))
        except QueueBackpressureError as error:
            note("publish", id, error)
    async with queue.process_message() as message:
        note("message", message)
    note("drain", await queue.drain(timeout=5))
    try:
        await queue.publish({"id": "d"})
    except QueueDrainedError as error:
        note("refused", error)
    events.note()


async def deliveries(client, _):
    events = Events()
    for options in ({}, {"visibility_timeout_seconds": None, "max_delivery_count": None}):
        queue = RedisMessageQueue(
            "jobs",
            client=client,
            on_event=events,
            enable_completed_queue=True,
            enable_failed_queue=True,
            **options,
        )
        for number in range(4):
            await queue.publish({"number": number})
        for _ in range(4):
            try:
                async with queue.process_message() as message:
                    note("message", message)
                    if payload(message)["number"] % 2:
                        raise HandlerFailed
            except HandlerFailed:
                note("failed")
    events.note()


async def leases(client, server):
    events = Events()
    queue = RedisMessageQueue(
        "jobs",
        client=client,
        on_event=events,
        max_delivery_count=1,
        visibility_timeout_seconds=30,
        heartbeat_interval_seconds=0.02,
    )
    await queue.publish("deadly")
    async with queue.process_message() as message:
        async with asyncio.timeout(30):
            while events.count("lease_renew") < 3:
                await asyncio.sleep(0.01)
        note("renewed", message)
        expire_leases(server, "jobs")
    await queue.publish("harmless")
    quiet = RedisMessageQueue("jobs", client=client, max_delivery_count=1)
    claim = quiet.process_message()
    note("abandoned", await claim.__aenter__())
    expire_leases(server, "jobs")
    await quiet.publish("next")
    async with quiet.process_message() as message:
        note("message", message)
    await claim.gen.aclose()


async def at_once(client, _):
    queue = RedisMessageQueue(
        "jobs",
        client=client,
        enable_completed_queue=True,
        max_delivery_count=None,
        visibility_timeout_seconds=300,
    )
    await asyncio.gather(*(queue.publish({"number": number}) for number in range(40)))

    async def work():
        for _ in range(10):
            async with queue.process_message():
                pass

    await asyncio.gather(*(work() for _ in range(4)))
    log = await client.lrange("jobs::completed", 0, -1)
    note("completed", sorted(payload(message)["number"] for message in log))


async def main():
    for name, options in STYLES.items():
        print(f"== {name}")
        client = redis.asyncio.Redis.from_url(URL, **options)
        server = connect(options)
        for steps in (publishing, deliveries, leases, at_once):
            print(f"-- {steps.__name__}")
            server.flushall()
            number_ids()
            await steps(client, server)
            if steps not in (leases, at_once):
                note_keys(server)
        await client.aclose()
        server.close()


asyncio.run(main())
