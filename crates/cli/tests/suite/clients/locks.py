"""The lock of redis-py, which lives on scripts, times to live and polling."""

import threading

from journal import connect, note, refused, runs, until


def locks(client, options):
    lock = client.lock("door", timeout=100)
    note(
        "taken", lock.acquire(), lock.locked(), lock.owned(), 90000 < client.pttl("door") <= 100000
    )
    other = client.lock("door", timeout=100, blocking_timeout=0.05)
    note("not by two", other.acquire(), other.owned(), other.acquire(blocking=False))
    note(
        "extended",
        lock.extend(100),
        client.pttl("door") > 110000,
        lock.extend(50, replace_ttl=True),
        client.pttl("door") <= 50000,
    )
    note("from anew", lock.reacquire(), client.pttl("door") > 90000)
    note("released", lock.release(), client.exists("door"), lock.locked())
    refused("released again", lock.release)
    refused("extended too late", lock.extend, 1)
    lock.acquire()
    client.set("door", "somebody else")
    refused("stolen", lock.release)
    refused("stolen", lock.reacquire)
    client.delete("door")
    note("token", lock.acquire(token="mine"), client.get("door"), lock.release())
    lock = client.lock("door", timeout=0.05)
    lock.acquire()
    until("free again", lambda: not lock.locked())
    refused("too late", lock.release)


def counting(_, options):
    """Threads that read, add and write under a lock lose nothing."""

    def count():
        client = connect({**options, "decode_responses": True})
        for _ in range(20):
            with client.lock("counting", timeout=60, sleep=0.001):
                client.set("number", int(client.get("number") or 0) + 1)
        client.close()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    client = connect(options)
    note("counted", client.get("number"), client.exists("counting"))


for step, client, options in runs(locks, counting):
    step(client, options)
