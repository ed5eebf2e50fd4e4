"""One worker process of a fleet, whose consumers share a queue object of redis-message-queue.

The argument is JSON. Prints `ready`, then each payload as its handler begins, and works until its
standard input ends. What a handler does is the first word of its message:

    done, returns   succeeds
    fails           raises
    kills           ends the process as kill -9 does, unless the fleet is spared
    stalls          takes longer than the lease when this process first sees it, unless spared
"""

import inspect
import json
import logging
import os
import signal
import sys
import threading
import time
import warnings

import redis
from redis_message_queue import EventDrivenInterruptHandler, RedisMessageQueue


class HandlerFailed(Exception):
    """What a failing handler raises."""


class Worker:
    def __init__(self, url, name, options, threads, spared, pace, stall):
        self.spared, self.pace, self.stall = spared, pace, stall
        self.stopped = threading.Event()
        self.seen = set()
        if "enable_completed_queue" in inspect.signature(RedisMessageQueue).parameters:
            options |= {"enable_completed_queue": True, "enable_failed_queue": True}
        self.queue = RedisMessageQueue(
            name,
            client=redis.Redis.from_url(url),
            interrupt=EventDrivenInterruptHandler(self.stopped),
            # Both logs are kept, without an end.
            max_completed_length=None,
            max_failed_length=None,
            **options,
        )
        self.threads = [threading.Thread(target=self.consume) for _ in range(threads)]

    def run(self):
        print("ready", flush=True)
        for thread in self.threads:
            thread.start()
        sys.stdin.read()
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def consume(self):
        try:
            while not self.stopped.is_set():
                try:
                    with self.queue.process_message() as payload:
                        if payload is not None:
                            self.handle(payload.decode())
                except HandlerFailed:
                    pass
        except BaseException:
            # A thread that ends by mistake must not go unnoticed.
            logging.exception("a consumer failed")
            os._exit(1)

    def handle(self, payload):
        # In one piece: the threads write to one stream.
        sys.stdout.write(f"{payload}\n")
        sys.stdout.flush()
        time.sleep(self.pace)
        fate = payload.split()[0]
        if fate == "fails":
            raise HandlerFailed
        if self.spared:
            return
        if fate == "kills":
            os.kill(os.getpid(), signal.SIGKILL)
        if fate == "stalls" and payload not in self.seen:
            self.seen.add(payload)
            time.sleep(self.stall)


warnings.simplefilter("ignore")
# Stale leases and reclaims are what a fleet is about; mistakes are told all the same.
logging.getLogger("redis_message_queue").setLevel(logging.CRITICAL)
Worker(**json.loads(sys.argv[1])).run()
