"""What a script beside this file did to the server at `URL`, and what it saw: one line a step.

The tests run each script on a real Redis and on `leaseline serve` and compare the lines. So a line
holds nothing that differs between two runs: no times, no chance.
"""

import faulthandler
import sys
import time

import redis

# Without the database, which would win over one that a client chooses.
URL = sys.argv[1].rpartition("/")[0]

# A script that hangs ends with a trace of where it does.
faulthandler.dump_traceback_later(120, exit=True)

STYLES = {
    "RESP2": {"protocol": 2},
    "RESP2, decoded": {"protocol": 2, "decode_responses": True},
    "RESP3": {"protocol": 3},
    "RESP3, decoded": {"protocol": 3, "decode_responses": True},
}


def styles():
    """A client set up in each way, on an empty server."""
    for name, options in STYLES.items():
        print(f"== {name}")
        client = connect(options)
        client.flushall()
        client.script_flush()
        yield client, options
        client.close()


def runs(*steps):
    """Each step with a client of each style, on an empty server."""
    for client, options in styles():
        for step in steps:
            print(f"-- {step.__name__}")
            client.flushall()
            yield step, client, options


def connect(options):
    """A client, and so a connection, of its own."""
    return redis.Redis.from_url(URL, **options)


def note(step, *seen):
    print(f"{step}:", *(plain(value) for value in seen))


def refused(step, call, *arguments, **options):
    """Notes the error that a call has to end with."""
    try:
        seen = call(*arguments, **options)
    except redis.RedisError as error:
        note(step, error)
    else:
        raise AssertionError(f"{step}: not refused, but answered {seen!r}")


def plain(value):
    """One text for the same value."""
    match value:
        case BaseException():
            return f"{type(value).__name__}({value})"
        case set():
            return f"{{{', '.join(sorted(map(plain, value)))}}}"
        case list():
            return f"[{', '.join(map(plain, value))}]"
        case tuple():
            return f"({', '.join(map(plain, value))})"
        case dict():
            return f"{{{', '.join(f'{plain(key)}: {plain(item)}' for key, item in value.items())}}}"
        case _:
            return repr(value)


def without(record, *fields):
    """A mapping without what differs between two runs."""
    return {key: item for key, item in record.items() if text(key) not in fields}


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def until(what, is_so):
    """Waits until something is so."""
    limit = time.monotonic() + 30
    while not is_so():
        if time.monotonic() > limit:
            raise AssertionError(f"never so: {what}")
        time.sleep(0.01)


def until_blocked(client, count=1):
    """Waits until so many clients wait for a key."""
    until(f"{count} blocked", lambda: client.info("clients")["blocked_clients"] == count)
