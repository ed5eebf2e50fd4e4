-- remove: settle a message that was claimed without a lease.
--
-- KEYS[1] processing    list
-- KEYS[2] claim_ids     hash     claim id -> stored
-- KEYS[3] claim_backrefs hash    stored -> claim id
-- KEYS[4] marker        string   first answer of this operation id, for its retries
-- KEYS[5] lease_tokens  hash     stored -> current fencing token
-- ARGV[1] stored
-- ARGV[2] marker_ttl_ms
-- RETURNS integer                1 settled, 0 not held
-- WRITES  processing, then metadata; works when memory is full
-- COST    O(processing)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'hash', 'hash', 'string', 'hash'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local answered = redis.call('GET', KEYS[4])
if answered then return tonumber(answered) end
-- A message under lease belongs to the holder of its token.
if redis.call('HEXISTS', KEYS[5], ARGV[1]) == 1 then return 0 end

local removed = redis.call('LREM', KEYS[1], 1, ARGV[1])

-- Settled: nothing below may turn the answer into an error.
redis.pcall('SET', KEYS[4], removed, 'PX', ARGV[2])
if removed == 1 then
  local id = redis.pcall('HGET', KEYS[3], ARGV[1])
  if type(id) == 'string' then
    redis.pcall('HDEL', KEYS[2], id)
    redis.pcall('HDEL', KEYS[3], ARGV[1])
  end
end
return removed
