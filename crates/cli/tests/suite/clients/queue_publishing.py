"""Publishing with redis-message-queue: duplicates, limits of the pending list, draining."""

import threading

from journal import connect, note, runs
from queues import Events, note_keys, number_ids
from redis_message_queue import (
    QueueBackpressureError,
    QueueDrainedError,
    RedisMessageQueue,
)


def attempt(step, queue, message):
    try:
        note(step, queue.publish(message))
    except (QueueBackpressureError, QueueDrainedError) as error:
        note(step, error)


def duplicates(client, _):
    events = Events()
    queue = RedisMessageQueue(
        "jobs",
        client=client,
        deduplication=True,
        get_deduplication_key=lambda message: message["id"],
        on_event=events,
    )
    for id in ("a", "b", "a"):
        note("publish", id, queue.publish({"id": id, "text": "r\u00e9sum\u00e9 \u4e2d"}))
    with queue.process_message() as message:
        note("message", message)
    note("after its end", queue.publish({"id": "a"}))
    events.note()


def plain_publishes(client, _):
    queue = RedisMessageQueue("jobs", client=client)
    note("text", queue.publish("text"), queue.publish(""), queue.publish('"\u0000\\'))
    note("mapping", queue.publish({"list": [1, 2.5, None, True], "nested": {"a": "b"}}))
    note("long", queue.publish("x" * 1000))


def limits(client, _):
    events = Events()
    queue = RedisMessageQueue("jobs", client=client, max_pending_length=2, on_event=events)
    for number in range(3):
        attempt("publish", queue, f"m{number}")
    with queue.process_message() as message:
        note("room", message)
    attempt("publish", queue, "m3")
    events.note()
    queue = RedisMessageQueue(
        "oldest",
        client=client,
        max_pending_length=2,
        pending_overload_policy="drop_oldest",
        max_delivery_count=None,
    )
    for number in range(4):
        attempt("publish", queue, f"m{number}")


def waiting_for_room(client, options):
    blocking = {"max_pending_length": 1, "pending_overload_policy": "block"}
    queue = RedisMessageQueue(
        "jobs", client=client, pending_overload_block_timeout_seconds=0.05, **blocking
    )
    attempt("publish", queue, "first")
    attempt("in vain", queue, "second")
    patient = RedisMessageQueue(
        "jobs", client=connect(options), pending_overload_block_timeout_seconds=30, **blocking
    )
    thread = threading.Thread(target=attempt, args=["room at last", patient, "third"])
    thread.start()
    with queue.process_message() as message:
        thread.join()
        note("message", message)


def draining(client, _):
    events = Events()
    queue = RedisMessageQueue("jobs", client=client, on_event=events)
    attempt("publish", queue, "a")
    attempt("publish", queue, "b")
    with queue.process_message() as message:
        note("message", message)
        note("drain", queue.drain(timeout=5))
    attempt("refused", queue, "c")
    with queue.process_message() as message:
        note("no message", message)
    note("drain", queue.drain(), queue.close(timeout=0))
    other = RedisMessageQueue("jobs", client=client)
    with other.process_message() as message:
        note("another's message", message)
    note("drain", other.drain())
    events.note()


for step, client, options in runs(duplicates, plain_publishes, limits, waiting_for_room, draining):
    number_ids()
    step(client, options)
    note_keys(client)
