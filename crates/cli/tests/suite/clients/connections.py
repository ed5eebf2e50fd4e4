"""Connections as redis-py keeps them: pools, names, lost ones, databases, many bytes."""

import threading

import redis
from journal import URL, connect, note, refused, runs, without
from redis.backoff import NoBackoff
from redis.retry import Retry


def names(client, options):
    named = connect({**options, "client_name": "worker-1"})
    note(
        "name",
        named.client_getname(),
        client.client_getname(),
        client.client_setname("me"),
        client.client_getname(),
    )
    [line] = [line for line in client.client_list() if line["name"] == "worker-1"]
    note(
        "listed",
        {
            key: line[key]
            for key in ("name", "flags", "db", "sub", "psub", "multi", "user", "resp", "cmd")
        },
    )
    info = named.client_info()
    note(
        "itself",
        info["name"],
        info["id"] == named.client_id(),
        info["addr"] == line["addr"],
        info["cmd"],
    )
    refused("bad name", client.client_setname, "two words")
    named.close()


def pools(client, options):
    pool = redis.BlockingConnectionPool.from_url(URL, max_connections=3, timeout=30, **options)
    pooled = redis.Redis(connection_pool=pool)

    def count():
        for _ in range(50):
            pooled.incr("number")

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    note("counted", pooled.get("number"))
    pool.disconnect()
    note("after a disconnect", pooled.incr("number"))
    single = redis.Redis.from_url(URL, single_connection_client=True, **options)
    note("one connection", single.client_id() == single.client_id(), single.ping())
    single.close()
    pooled.close()


def lost(client, options):
    """Connections that the server has closed are opened again."""
    other = connect({**options, "retry": Retry(NoBackoff(), 3), "health_check_interval": 1})
    before = other.client_id()
    note("killed", client.client_kill_filter(_id=before), other.ping(), other.client_id() > before)
    note("nobody", client.client_kill_filter(_id=99999999))
    refused("nobody", client.client_kill, "127.0.0.1:1")
    connection = other.connection_pool.get_connection()
    connection.next_health_check = 0
    connection.check_health()
    connection.send_command("PING")
    note("healthy", connection.read_response(), connection.next_health_check > 0)
    other.connection_pool.release(connection)
    other.close()


def databases(client, options):
    fifth = connect({**options, "db": 5})
    note(
        "apart",
        fifth.set("a", 1),
        client.exists("a"),
        fifth.dbsize(),
        sorted(client.info("keyspace")),
    )
    note("swapped", client.swapdb(0, 5), client.get("a"), fifth.get("a"))
    note("changed", client.select(0), client.flushdb(), client.dbsize())
    refused("no such database", connect({**options, "db": 16}).ping)
    fifth.close()


def contents(client, options):
    """Whatever bytes, and many of them."""
    raw = connect({"protocol": options["protocol"]})
    every = bytes(range(256)) * 3
    note(
        "every byte",
        raw.set(every, every),
        raw.get(every) == every,
        raw.strlen(every),
        raw.keys() == [every],
        raw.delete(every),
    )
    note("empty", raw.set("", ""), raw.get(""), raw.exists(""))
    large = b"\r\n$5\r\n" * 1_000_000
    note("large", raw.set("large", large), raw.get("large") == large, raw.delete("large"))
    note(
        "many",
        raw.rpush("many", *range(50000)),
        len(raw.lrange("many", 0, -1)),
        raw.lindex("many", -1),
    )
    raw.close()


def protocols(client, options):
    hello = client.execute_command("HELLO")
    hello = hello if isinstance(hello, dict) else dict(zip(hello[::2], hello[1::2], strict=True))
    note("hello", without(hello, "id", "version"))
    refused("no such protocol", client.execute_command, "HELLO", "4")
    refused("password", client.execute_command, "AUTH", "wrong")
    refused("user", connect({**options, "username": "nobody", "password": "wrong"}).ping)


for step, client, options in runs(names, pools, lost, databases, contents, protocols):
    step(client, options)
