-- release: give a lease up, if the token is current; the message can be claimed again after delay_ms.
--
-- The message stays in processing under a fresh token that nobody holds, and its deadline is the
-- time at which it is due. So its holder is fenced, and the next reclaim after that time, the
-- original's too, brings it back.
--
-- KEYS[1] processing    list
-- KEYS[2] lease_deadlines zset
-- KEYS[3] lease_tokens  hash     stored -> current fencing token
-- KEYS[4] lease_token_counter string
-- KEYS[5] claim_refs    hash     token -> name of its claim_result key
-- KEYS[6] claim_ids     hash     claim id -> claim record
-- KEYS[7] claim_backrefs hash    token -> claim id
-- KEYS[8] delays        zset     token -> when its message is due; ends with the last of them
-- KEYS[9] marker        string   the answer to this operation id, for its retries
-- ARGV[1] stored
-- ARGV[2] token
-- ARGV[3] delay_ms
-- ARGV[4] marker_ttl_ms          at most; the marker ends with the lease or the delay, see below
-- RETURNS integer                when the message is due, ms of server time; 0 stale (nothing written)
-- WRITES  delays, then the token, which fences the holder, then the deadline, then metadata
-- COST    O(processing + log leases), and the removal of delays that are over

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'zset', 'hash', 'string', 'hash', 'hash', 'hash', 'zset', 'string'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end
local PROCESSING, DEADLINES, TOKENS, COUNTER = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local REFS, IDS, BACKREFS, DELAYS, MARKER = KEYS[5], KEYS[6], KEYS[7], KEYS[8], KEYS[9]
local stored, token, delay = ARGV[1], ARGV[2], tonumber(ARGV[3])

local answered = redis.call('GET', MARKER)
if answered then return tonumber(answered) end
if redis.call('HGET', TOKENS, stored) ~= token then return 0 end
if not redis.call('LPOS', PROCESSING, stored) then return 0 end

local time = redis.call('TIME')
local now = math.floor(time[1] * 1000 + time[2] / 1000)
local due = now + delay
-- The marker lasts as long as the lease would have or the delay does, and at least a second, so
-- that a worker that dies before it removes the marker leaves nothing behind for longer.
local rest = math.floor(tonumber(redis.call('ZSCORE', DEADLINES, stored) or now) - now)
local marker_ttl = math.min(tonumber(ARGV[4]), math.max(1000, rest, delay))

redis.call('INCR', COUNTER)
-- Read as text: beyond 2^53 a Lua number would lose digits.
local fresh = redis.call('GET', COUNTER)
local try = redis.pcall
local ok, failure = pcall(function()
  redis.call('ZREMRANGEBYSCORE', DELAYS, '-inf', now)
  redis.call('ZADD', DELAYS, due, fresh)
  redis.call('PEXPIREAT', DELAYS, redis.call('ZRANGE', DELAYS, -1, -1, 'WITHSCORES')[2])
  redis.call('HSET', TOKENS, stored, fresh)
  redis.call('ZADD', DEADLINES, due, stored)
end)
if not ok then
  try('HSET', TOKENS, stored, token)
  try('ZREM', DELAYS, fresh)
  return redis.error_reply(type(failure) == 'table' and failure.err or failure)
end

-- Released: nothing below may turn the answer into an error.
try('SET', MARKER, due, 'PX', marker_ttl)
local ref = try('HGET', REFS, token)
if type(ref) == 'string' then
  -- The one key that is read from data and not declared; a cluster may refuse it.
  try('DEL', ref)
  try('HDEL', REFS, token)
end
local id = try('HGET', BACKREFS, token)
if type(id) == 'string' then
  try('HDEL', IDS, id)
  try('HDEL', BACKREFS, token)
end
return due
