"""One queue object of redis-message-queue, driven by the tests beside this file.

Reads one JSON request a line and answers each with one JSON line: a `result` or an `error`, and the
`events` since the last answer. The first request is `open`; its options are those of 8.3.0. Bytes
travel as hexadecimal text.
"""

import importlib.metadata
import inspect
import json
import logging
import sys
import unittest.mock
import warnings

import redis
from redis_message_queue import RedisMessageQueue, _stored_message


class HandlerFailed(Exception):
    """What a failing handler raises."""


def spelled(options):
    """Options of 8.3.0 in the words of the version that is installed.

    11.0.1 has no switches: a key function turns deduplication on, a maximal length turns a log on.
    """
    known = inspect.signature(RedisMessageQueue).parameters
    if "deduplication" not in known:
        options.pop("deduplication", None)
    for log in ("completed", "failed"):
        if f"enable_{log}_queue" not in known and options.pop(f"enable_{log}_queue", False):
            options.setdefault(f"max_{log}_length", 1000)
    return options


class Peer:
    def __init__(self):
        self.queue = None
        self.deduplication_key = None
        self.claims = []
        self.events = []

    def open(self, url, name, options):
        if options.get("deduplication"):
            options["get_deduplication_key"] = lambda message: self.deduplication_key
        self.queue = RedisMessageQueue(
            name,
            client=redis.Redis.from_url(url),
            on_event=lambda event: self.events.append(f"{event.operation}/{event.outcome}"),
            **spelled(options),
        )
        return importlib.metadata.version("redis-message-queue")

    def publish(self, message, key=None):
        self.deduplication_key = key
        return self.queue.publish(message)

    def publish_json(self, text):
        """Publishes what a text of JSON says; the error's name if it is refused."""
        try:
            return self.publish(json.loads(text))
        except (ValueError, TypeError) as error:
            return type(error).__name__

    def envelope(self, id, payload):
        """The bytes that `publish` would store under this id."""
        minted = unittest.mock.Mock(hex=id)
        with unittest.mock.patch.object(_stored_message.uuid, "uuid4", return_value=minted):
            return _stored_message.encode_stored_message(payload).encode().hex()

    def claim(self):
        """Takes a message and holds it: its number and payload, or null after five seconds."""
        claim = self.queue.process_message()
        payload = claim.__enter__()
        if payload is None:
            claim.__exit__(None, None, None)
            return None
        self.claims.append(claim)
        return {"claim": len(self.claims) - 1, "payload": payload.hex()}

    def ack(self, claim):
        self.claims[claim].__exit__(None, None, None)

    def fail(self, claim):
        error = HandlerFailed()
        try:
            self.claims[claim].__exit__(HandlerFailed, error, None)
        except HandlerFailed:
            pass

    def remove(self, stored, token=None):
        """Acknowledges a claim of anyone."""
        return self.queue._redis.remove_message(
            self.queue.key.processing, bytes.fromhex(stored), lease_token=token
        )

    def renew(self, stored, token):
        """Renews a lease of anyone."""
        return self.queue._redis.renew_message_lease(
            self.queue.key.processing, bytes.fromhex(stored), token
        )

    def redrive(self):
        return self.queue.redrive_dead_letters()

    def drain(self):
        return self.queue.drain(timeout=5.0)


def main():
    warnings.simplefilter("ignore")
    logging.disable()
    peer = Peer()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"result": getattr(peer, request.pop("do"))(**request)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answer["events"], peer.events = peer.events, []
        print(json.dumps(answer), flush=True)


main()
