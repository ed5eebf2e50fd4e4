"""Calls that wait for others, in threads of their own, through redis-py."""

import threading

from journal import connect, note, runs, until_blocked


class Waiter:
    """A call on a connection of its own that waits, and what it returns."""

    def __init__(self, client, options, call):
        self.result = None
        self.client = connect(options)
        self.thread = threading.Thread(target=self.run, args=[call], daemon=True)
        blocked = client.info("clients")["blocked_clients"]
        self.thread.start()
        until_blocked(client, blocked + 1)

    def run(self, call):
        try:
            self.result = call(self.client)
        except Exception as error:
            self.result = error

    def end(self):
        self.thread.join(30)
        self.client.close()
        return self.result


def lists(client, options):
    waiter = Waiter(client, options, lambda own: own.blpop(["a", "b"], timeout=30))
    note("pushed", client.rpush("b", "v", "w"), waiter.end(), client.lrange("b", 0, -1))
    note("there already", client.brpop(["a", "b"], timeout=30))
    note(
        "in vain",
        client.blpop("a", timeout=0.02),
        client.blmove("a", "b", 0.02),
        client.brpoplpush("a", "b", 0.02),
    )
    first = Waiter(client, options, lambda own: own.blpop("a", timeout=30))
    second = Waiter(client, options, lambda own: own.brpop("a", timeout=30))
    note(
        "in turn",
        client.rpush("a", "1", "2", "3"),
        first.end(),
        second.end(),
        client.lrange("a", 0, -1),
    )
    waiter = Waiter(client, options, lambda own: own.blmove("from", "to", 30, "LEFT", "RIGHT"))
    follower = Waiter(client, options, lambda own: own.brpop("to", timeout=30))
    note(
        "moved on",
        client.rpush("from", "v"),
        waiter.end(),
        follower.end(),
        client.exists("from", "to"),
    )
    waiter = Waiter(
        client, options, lambda own: own.blmpop(30, 2, "c", "d", direction="RIGHT", count=2)
    )
    note("many", client.rpush("d", 1, 2, 3), waiter.end())
    waiter = Waiter(client, options, lambda own: own.blpop("e", timeout=30))
    with client.pipeline() as pipeline:
        note("gone before the end", pipeline.rpush("e", 1).delete("e").execute())
    note("by a script", client.eval("return redis.call('RPUSH', 'e', 'x', 'y')", 0), waiter.end())
    waiter = Waiter(client, options, lambda own: own.blpop("e2", timeout=30))
    note("woken", unblock(client), waiter.end())
    waiter = Waiter(client, options, lambda own: own.blpop("e2", timeout=30))
    note("woken rudely", unblock(client, error=True), waiter.end())


def unblock(client, error=False):
    """Wakes the only client that waits."""
    [waiting] = [other for other in client.client_list() if "b" in other["flags"]]
    return client.client_unblock(waiting["id"], error=error)


def others(client, options):
    waiter = Waiter(client, options, lambda own: own.bzpopmin(["board"], 30))
    note("lowest", client.zadd("board", {"m": 1.5, "n": 2}), waiter.end())
    waiter = Waiter(client, options, lambda own: own.bzpopmax(["one", "two"], 30))
    note("highest", client.zadd("two", {"m": 1.5, "n": 2}), waiter.end())
    waiter = Waiter(client, options, lambda own: own.bzmpop(30, 1, ["three"], min=True, count=2))
    note("many", client.zadd("three", {"m": 1, "n": 2, "o": 3}), waiter.end())
    waiter = Waiter(client, options, lambda own: own.xread({"log": "$"}, block=30000))
    note("entry", client.xadd("log", {"a": 1}, id="5-5"), waiter.end())
    client.xgroup_create("log", "workers", "$")
    waiter = Waiter(
        client, options, lambda own: own.xreadgroup("workers", "one", {"log": ">"}, block=30000)
    )
    note(
        "entry",
        client.xadd("log", {"a": 2}, id="5-6"),
        waiter.end(),
        client.xpending("log", "workers")["pending"],
    )
    waiter = Waiter(
        client, options, lambda own: own.xreadgroup("workers", "one", {"log": ">"}, block=30000)
    )
    note("no group any more", client.delete("log"), waiter.end())


for step, client, options in runs(lists, others):
    step(client, options)
