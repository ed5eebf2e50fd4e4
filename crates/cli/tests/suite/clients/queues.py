"""redis-message-queue as it is, in a run that comes out the same each time."""

import itertools
import json
import logging
import re
import uuid
import warnings

from journal import note, plain, text

warnings.simplefilter("ignore")
logging.disable()


def number_ids():
    """Starts the ids that the library mints again at one."""
    numbers = itertools.count(1)
    uuid.uuid4 = lambda: uuid.UUID(int=next(numbers))


class Events:
    """What a queue tells of itself."""

    def __init__(self):
        self.seen = []

    def __call__(self, event):
        self.seen.append(event)

    def count(self, operation):
        return sum(event.operation == operation for event in self.seen)

    def note(self):
        """Notes them, without how long things took."""
        for event in self.seen:
            words = [f"{event.queue}: {event.operation}/{event.outcome}"]
            for name in (
                "message_id",
                "claim_id",
                "lease_token_hash",
                "destination_queue",
                "delivery_count",
                "max_delivery_count",
                "exception_type",
                "pending_claim_ids",
            ):
                if (value := getattr(event, name)) is not None:
                    words.append(f"{name}={value}")
            note("event", " ".join(words))
        self.seen.clear()


def note_keys(client):
    """Everything on the server, without the moments at which leases end."""
    for key in sorted(client.keys(), key=text):
        note(
            "key",
            text(key),
            *read(client, key),
            "for some time" if client.pttl(key) > 0 else "for good",
        )


def read(client, key):
    kind = text(client.type(key))
    match kind:
        case "string":
            value = client.get(key)
        case "list":
            value = client.lrange(key, 0, -1)
        case "hash":
            value = sorted(client.hgetall(key).items(), key=plain)
        case "zset":
            # Leases that were claimed within the same moment have no order.
            value = set(client.zrange(key, 0, -1))
    return kind, timeless(value)


def timeless(value):
    """Stored replies hold the server's time in milliseconds."""
    return re.sub(r"\b[12]\d{12}\b", "<time>", plain(value))


def expire_leases(client, name):
    """Lets every lease of a queue end, by its score and not by the clock."""
    key = f"{name}::processing:lease_deadlines"
    for member in client.zrange(key, 0, -1):
        client.zadd(key, {member: 1}, xx=True)


def payload(message):
    return None if message is None else json.loads(message)
