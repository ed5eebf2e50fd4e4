"""Messages of redis-message-queue to their end: completed, failed, by several workers."""

import threading

from journal import connect, note, runs
from queues import Events, note_keys, number_ids, payload
from redis_message_queue import RedisMessageQueue

LEASES = {}
NO_LEASES = {"visibility_timeout_seconds": None, "max_delivery_count": None}
LOGS = {"enable_completed_queue": True, "enable_failed_queue": True}


class HandlerFailed(Exception):
    pass


def handle(queue):
    """Fails each message that asks for it."""
    try:
        with queue.process_message() as message:
            note("message", message)
            if payload(message)["fails"]:
                raise HandlerFailed
    except HandlerFailed:
        note("failed")


def one_worker(client, _):
    for name, leases in (("leases", LEASES), ("plain", NO_LEASES)):
        for logs in ({}, LOGS, {**LOGS, "max_completed_length": 1, "max_failed_length": 1}):
            events = Events()
            queue = RedisMessageQueue(name, client=client, on_event=events, **leases, **logs)
            for number in range(6):
                queue.publish({"number": number, "fails": number % 3 == 1})
            for _ in range(6):
                handle(queue)
            events.note()
            note_keys(client)


def callbacks(client, _):
    queue = RedisMessageQueue("jobs", client=client, **LOGS)
    queue.publish("by a callback")
    note("handled", queue.process_message_callback(lambda message: note("message", message)))


def in_processing(client, _):
    for name, leases in (("leases", LEASES), ("plain", NO_LEASES)):
        queue = RedisMessageQueue(name, client=client, **leases)
        for number in range(3):
            queue.publish({"number": number})
        with queue.process_message() as first, queue.process_message() as second:
            note("two at once", first, second)
            note_keys(client)


def work(queue, seen):
    for _ in range(10):
        try:
            with queue.process_message() as message:
                seen.append(payload(message)["number"])
                if payload(message)["fails"]:
                    raise HandlerFailed
        except HandlerFailed:
            pass


def many_workers(client, options):
    """Which of them fails is told by the message and not by who comes first, so all runs agree."""
    for name, leases in (("leases", LEASES), ("plain", NO_LEASES)):
        queue = RedisMessageQueue(name, client=client, **leases, **LOGS)
        for number in range(40):
            queue.publish({"number": number, "fails": number % 5 == 0})
        seen = []
        workers = [
            threading.Thread(
                target=work,
                args=[RedisMessageQueue(name, client=connect(options), **leases, **LOGS), seen],
            )
            for _ in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        note("seen", sorted(seen))
        for word in ("completed", "failed"):
            log = client.lrange(f"{name}::{word}", 0, -1)
            note(word, sorted(payload(message)["number"] for message in log))
        note(
            "left",
            client.exists(
                f"{name}::pending", f"{name}::processing", f"{name}::processing:lease_tokens"
            ),
        )


for step, client, options in runs(one_worker, callbacks, in_processing, many_workers):
    number_ids()
    step(client, options)
    if step is not many_workers:
        note_keys(client)
