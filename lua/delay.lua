-- delay: store a message that can be claimed after delay_ms.
--
-- As after a release it lies in processing under a token that nobody holds, and its deadline is the
-- time at which it is due: the next reclaim after that, the original's too, puts it into pending.
--
-- KEYS[1] processing    list
-- KEYS[2] lease_deadlines zset   stored -> deadline, ms of server time
-- KEYS[3] lease_tokens  hash     stored -> current fencing token
-- KEYS[4] lease_token_counter string
-- KEYS[5] delays        zset     token -> when its message is due; ends with the last of them
-- KEYS[6] marker        string   first answer of this operation id, for its retries
-- KEYS[7..] deduplication string at most one: present while the key is remembered
-- ARGV[1] stored                 the enveloped message
-- ARGV[2] delay_ms
-- ARGV[3] marker_ttl_ms
-- ARGV[4] deduplication_ttl_ms
-- RETURNS integer                when the message is due, ms of server time; 0 duplicate
-- WRITES  deduplication, marker, delays, the lease, then processing as the last step
-- COST    O(log leases), and the removal of delays that are over

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'zset', 'hash', 'string', 'zset', 'string', 'string'}) do
  local kind = KEYS[i] and redis.call('TYPE', KEYS[i]).ok or 'none'
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end
local PROCESSING, DEADLINES, TOKENS, COUNTER = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local DELAYS, MARKER, DEDUPLICATION = KEYS[5], KEYS[6], KEYS[7]
local stored = ARGV[1]

local answered = redis.call('GET', MARKER)
if answered then return tonumber(answered) end
if DEDUPLICATION and redis.call('EXISTS', DEDUPLICATION) == 1 then
  redis.call('SET', MARKER, '0', 'PX', ARGV[3])
  return 0
end

local time = redis.call('TIME')
local now = math.floor(time[1] * 1000 + time[2] / 1000)
local due = now + tonumber(ARGV[2])
redis.call('INCR', COUNTER)
-- Read as text: beyond 2^53 a Lua number would lose digits.
local fresh = redis.call('GET', COUNTER)
local try = redis.pcall
local ok, failure = pcall(function()
  if DEDUPLICATION then redis.call('SET', DEDUPLICATION, '', 'PX', ARGV[4]) end
  redis.call('SET', MARKER, due, 'PX', ARGV[3])
  redis.call('ZREMRANGEBYSCORE', DELAYS, '-inf', now)
  redis.call('ZADD', DELAYS, due, fresh)
  redis.call('PEXPIREAT', DELAYS, redis.call('ZRANGE', DELAYS, -1, -1, 'WITHSCORES')[2])
  redis.call('ZADD', DEADLINES, due, stored)
  redis.call('HSET', TOKENS, stored, fresh)
  -- At the head, as by a claim: a reclaim looks for the oldest at the tail, and later claims are
  -- before it, where a settlement finds them.
  redis.call('LPUSH', PROCESSING, stored)
end)
if not ok then
  -- The message and its token are new, so none of this was there before.
  try('HDEL', TOKENS, stored)
  try('ZREM', DEADLINES, stored)
  try('ZREM', DELAYS, fresh)
  try('DEL', MARKER)
  if DEDUPLICATION then try('DEL', DEDUPLICATION) end
  return redis.error_reply(type(failure) == 'table' and failure.err or failure)
end
return due
