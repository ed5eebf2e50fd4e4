-- move: settle a message that was claimed without a lease and keep its payload in a log.
--
-- KEYS[1] processing    list
-- KEYS[2] destination   list
-- KEYS[3] claim_ids     hash     claim id -> stored
-- KEYS[4] claim_backrefs hash    stored -> claim id
-- KEYS[5] marker        string   first answer of this operation id, for its retries
-- KEYS[6] lease_tokens  hash     stored -> current fencing token
-- ARGV[1] stored
-- ARGV[2] payload
-- ARGV[3] marker_ttl_ms
-- RETURNS integer                1 settled, 0 not held
-- WRITES  destination, then processing, then metadata
-- COST    O(processing)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'list', 'hash', 'hash', 'string', 'hash'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local answered = redis.call('GET', KEYS[5])
if answered then return tonumber(answered) end
-- A message under lease belongs to the holder of its token.
if redis.call('HEXISTS', KEYS[6], ARGV[1]) == 1 then return 0 end

-- Of what is not held nothing is logged: an entry that has to be taken back might stay.
if not redis.call('LPOS', KEYS[1], ARGV[1]) then
  redis.pcall('SET', KEYS[5], 0, 'PX', ARGV[3])
  return 0
end

redis.call('LPUSH', KEYS[2], ARGV[2])
local removed = redis.pcall('LREM', KEYS[1], 1, ARGV[1])
if removed ~= 1 then redis.pcall('LPOP', KEYS[2]) end
if type(removed) == 'table' then return redis.error_reply(removed.err) end

-- Settled: nothing below may turn the answer into an error.
redis.pcall('SET', KEYS[5], removed, 'PX', ARGV[3])
if removed == 1 then
  local id = redis.pcall('HGET', KEYS[4], ARGV[1])
  if type(id) == 'string' then
    redis.pcall('HDEL', KEYS[3], id)
    redis.pcall('HDEL', KEYS[4], ARGV[1])
  end
end
return removed
