"""Messages to channels, through redis-py."""

from journal import connect, note, runs, until


def messages(client, options):
    subscriber = connect(options).pubsub()

    def next_message():
        return subscriber.get_message(timeout=30)

    subscriber.subscribe("news", "other")
    subscriber.psubscribe("n*s", "x?")
    note("subscribed", *[next_message() for _ in range(4)])
    note(
        "known",
        set(client.pubsub_channels()),
        client.pubsub_channels("o*"),
        client.pubsub_numsub("news", "none"),
        client.pubsub_numpat(),
    )
    note(
        "heard",
        client.publish("news", "a\r\nb"),
        next_message(),
        next_message(),
        client.publish("none", "x"),
    )
    client.eval("return redis.call('PUBLISH', 'xy', 'of a script')", 0)
    with client.pipeline() as pipeline:
        pipeline.publish("other", 1).publish("other", 2).execute()
    note("more", next_message(), next_message(), next_message())
    subscriber.ping("still there")
    note("ping", next_message())
    subscriber.unsubscribe("other")
    subscriber.punsubscribe()
    note("left", next_message(), next_message(), next_message(), client.publish("other", 1))
    subscriber.unsubscribe()
    note("left all", next_message(), subscriber.subscribed, client.pubsub_channels())
    subscriber.close()


def threads(client, options):
    heard = []
    subscriber = connect(options).pubsub(ignore_subscribe_messages=True)
    subscriber.subscribe(news=heard.append)
    thread = subscriber.run_in_thread(sleep_time=0.01)
    until("subscribed", lambda: client.publish("news", "hello") == 1)
    until("heard", lambda: heard)
    thread.stop()
    thread.join()
    note("in a thread", heard)
    subscriber.close()


for step, client, options in runs(messages, threads):
    step(client, options)
