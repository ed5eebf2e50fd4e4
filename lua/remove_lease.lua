-- remove_lease: settle a leased message, if the token is current.
--
-- KEYS[1] processing    list
-- KEYS[2] lease_deadlines zset
-- KEYS[3] lease_tokens  hash     stored -> current fencing token
-- KEYS[4] delivery_counts hash
-- KEYS[5] claim_refs    hash     token -> name of its claim_result key
-- KEYS[6] claim_ids     hash     claim id -> claim record
-- KEYS[7] claim_backrefs hash    token -> claim id
-- KEYS[8] marker        string   set on success, for retries of this operation id
-- ARGV[1] stored
-- ARGV[2] token
-- ARGV[3] marker_ttl_ms          at most; the marker ends with the lease, see below
-- RETURNS integer                1 settled, 0 stale, -1 stale and the message is gone: someone
--                                settled it, perhaps an earlier try of this very call
-- WRITES  processing, then metadata; works when memory is full
-- COST    O(processing)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'zset', 'hash', 'hash', 'hash', 'hash', 'hash', 'string'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end
local PROCESSING, DEADLINES, TOKENS, COUNTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local REFS, IDS, BACKREFS, MARKER = KEYS[5], KEYS[6], KEYS[7], KEYS[8]
local stored, token = ARGV[1], ARGV[2]

if redis.call('EXISTS', MARKER) == 1 then return 1 end
if redis.call('HGET', TOKENS, stored) ~= token then
  -- A message that is still alive keeps its delivery count through every reclaim.
  return redis.call('HEXISTS', COUNTS, stored) - 1
end

-- The marker ends with the lease (but lasts a second, for the first retries), so that a worker
-- that dies before it removes the marker leaves nothing behind once its leases have expired.
local time = redis.call('TIME')
local now = math.floor(time[1] * 1000 + time[2] / 1000)
local rest = math.floor(tonumber(redis.call('ZSCORE', DEADLINES, stored) or now) - now)
local marker_ttl = math.min(tonumber(ARGV[3]), math.max(1000, rest))

if redis.call('LREM', PROCESSING, 1, stored) == 0 then return 0 end

-- Settled: nothing below may turn the answer into an error. The deadline goes last and only if all
-- else went: what stays behind is then found as an expired lease by a later claim.
local try = redis.pcall
local clean = true
local function remove(...)
  local reply = try(...)
  if type(reply) == 'table' then clean = false end
end
try('SET', MARKER, '1', 'PX', marker_ttl)
local ref = try('HGET', REFS, token)
if type(ref) == 'string' then
  -- The one key that is read from data and not declared; a cluster may refuse it.
  try('DEL', ref)
  remove('HDEL', REFS, token)
end
local id = try('HGET', BACKREFS, token)
if type(id) == 'string' then
  remove('HDEL', IDS, id)
  remove('HDEL', BACKREFS, token)
end
-- Only writers without envelopes can leave two equal elements; the other one's lease was this
-- one, so it expires now and is claimed again.
local twin = string.sub(stored, 1, 6) ~= '\30RMQ1:' and type(try('LPOS', PROCESSING, stored)) == 'number'
if not twin then remove('HDEL', COUNTS, stored) end
if clean and type(ref) ~= 'table' and type(id) ~= 'table' then
  remove('HDEL', TOKENS, stored)
  if twin then
    try('ZADD', DEADLINES, 0, stored)
  elseif clean then
    try('ZREM', DEADLINES, stored)
  end
end
return 1
