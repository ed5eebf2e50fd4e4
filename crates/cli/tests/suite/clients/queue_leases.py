"""Leases of redis-message-queue: workers that vanish, heartbeats, late ends, dead letters."""

from journal import connect, note, runs, until
from queues import Events, expire_leases, note_keys, number_ids
from redis_message_queue import RedisMessageQueue


def abandon(queue):
    """Claims a message as a worker does that is killed with it."""
    claim = queue.process_message()
    note("abandoned", claim.__enter__())
    # Ends without an end of the message.
    claim.gen.close()


def reclaiming(client, options):
    events = Events()
    queue = RedisMessageQueue("jobs", client=client, on_event=events)
    other = RedisMessageQueue(
        "jobs", client=connect(options), on_event=events, enable_completed_queue=True
    )
    queue.publish("a")
    queue.publish("b")
    abandon(queue)
    expire_leases(client, "jobs")
    note_keys(client)
    for _ in range(2):
        with other.process_message() as message:
            note("message", message)
            note_keys(client)
    events.note()


def late_ends(client, options):
    events = Events()
    queue = RedisMessageQueue("jobs", client=client, on_event=events, enable_completed_queue=True)
    other = RedisMessageQueue(
        "jobs", client=connect(options), on_event=events, enable_completed_queue=True
    )
    queue.publish("a")
    with queue.process_message() as message:
        note("message", message)
        expire_leases(client, "jobs")
        claim = other.process_message()
        note("taken over", claim.__enter__())
    note_keys(client)
    claim.__exit__(None, None, None)
    events.note()


def passing_time(client, _):
    """A lease that ends by the clock of the server."""
    queue = RedisMessageQueue(
        "jobs", client=client, visibility_timeout_seconds=1, max_delivery_count=5
    )
    queue.publish("a")
    abandon(queue)
    with queue.process_message() as message:
        note("again", message, client.hgetall("jobs::processing:delivery_counts"))


def heartbeats(client, _):
    events = Events()
    queue = RedisMessageQueue(
        "jobs",
        client=client,
        on_event=events,
        visibility_timeout_seconds=30,
        heartbeat_interval_seconds=0.02,
    )
    queue.publish("a")
    with queue.process_message() as message:
        deadlines = "jobs::processing:lease_deadlines"
        [(_, before)] = client.zrange(deadlines, 0, -1, withscores=True)
        until("renewed", lambda: events.count("lease_renew") >= 3)
        [(_, after)] = client.zrange(deadlines, 0, -1, withscores=True)
        note("renewed", message, after > before)
    note("all went well", {str(event.outcome) for event in events.seen})
    failures = []
    queue = RedisMessageQueue(
        "jobs",
        client=client,
        on_event=events,
        visibility_timeout_seconds=30,
        heartbeat_interval_seconds=0.02,
        on_heartbeat_failure=lambda: failures.append(1),
    )
    queue.publish("b")
    with queue.process_message() as message:
        client.delete("jobs::processing:lease_tokens")
        until("noticed", lambda: failures)
    note("lost", message, events.count("lease_renew_failed"), events.count("stale_lease_ack"))


def dead_letters(client, _):
    events = Events()
    queue = RedisMessageQueue("jobs", client=client, on_event=events, max_delivery_count=2)
    queue.publish("deadly")
    queue.publish("harmless")
    for _ in range(2):
        abandon(queue)
        expire_leases(client, "jobs")
    with queue.process_message() as message:
        note("message", message)
    events.note()


for step, client, options in runs(reclaiming, late_ends, passing_time, heartbeats, dead_letters):
    number_ids()
    step(client, options)
    if step is not heartbeats:
        note_keys(client)
