// ioredis on a server that is named by its URL: prints what it is answered.
const Redis = require("ioredis");

const url = process.argv[2];
const say = (...values) => console.log(JSON.stringify(values));

async function refused(work) {
  try {
    say("not refused", await work());
  } catch (error) {
    say(error.message);
  }
}

async function main() {
  const redis = new Redis(url);
  await redis.flushall();

  // Values of each kind.
  say(await redis.set("a", "1", "EX", 100), await redis.get("a"), await redis.incr("a"));
  say(await redis.rpush("list", 1, 2, 3), await redis.lrange("list", 0, -1));
  say(await redis.hset("hash", { x: 1, y: 2 }), await redis.hgetall("hash"));
  say(await redis.zadd("scores", 1, "one", 2.5, "two"));
  say(await redis.zrange("scores", 0, -1, "WITHSCORES"));
  say((await redis.getBuffer("a")).toString("hex"));

  // Pipelines and transactions.
  say(await redis.pipeline().set("p", 1).incr("p").lpush("p", 1).get("p").exec());
  say(await redis.multi().set("m", "x").get("m").exec());

  // Scripts: by their hash, which the server does not know at first.
  await redis.script("FLUSH");
  redis.defineCommand("mine", {
    numberOfKeys: 1,
    lua: "return {KEYS[1], ARGV[1], redis.call('GET', KEYS[1])}",
  });
  say(await redis.mine("m", "argument"), await redis.mine("m", "argument"));
  await refused(() => redis.eval("return redis.error_reply('MINE is wrong')", 0));
  await refused(() => redis.lpush("a", 1));
  await refused(() => redis.call("NONSENSE"));

  // Streams.
  say(await redis.xadd("stream", "1-1", "k", "v"), await redis.xrange("stream", "-", "+"));
  say(await redis.xgroup("CREATE", "stream", "group", "0"));
  say(await redis.xreadgroup("GROUP", "group", "me", "COUNT", 1, "STREAMS", "stream", ">"));
  say((await redis.xpending("stream", "group"))[0], await redis.xack("stream", "group", "1-1"));

  // Connections of their own for what waits.
  const listener = new Redis(url);
  say(await listener.subscribe("channel"));
  const heard = new Promise((resolve) => listener.on("message", (...words) => resolve(words)));
  say(await redis.publish("channel", "hello"), await heard);
  const waiter = new Redis(url);
  const waited = waiter.blpop("later", 10);
  while (!/cmd=blpop/.test(await redis.client("LIST"))) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  say(await redis.rpush("later", "x"), await waited);

  // Another database, and a scan.
  const other = new Redis(url, { db: 2 });
  say(await other.dbsize());
  const found = [];
  for await (const keys of redis.scanStream()) {
    found.push(...keys);
  }
  say(found.sort());

  for (const connection of [redis, listener, waiter, other]) {
    say(await connection.quit());
  }
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
