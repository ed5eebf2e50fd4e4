-- return: give a message that was claimed without a lease, and never handed out, back to pending.
--
-- KEYS[1] processing    list
-- KEYS[2] pending       list
-- KEYS[3] claim_ids     hash     claim id -> stored
-- KEYS[4] claim_backrefs hash    stored -> claim id
-- KEYS[5] marker        string   first answer of this operation id, for its retries
-- KEYS[6] claim_result  string   of this claim id
-- ARGV[1] stored
-- ARGV[2] claim_id
-- ARGV[3] marker_ttl_ms
-- RETURNS integer                1 returned, 0 not in processing or not of this claim
-- WRITES  pending, then processing, then metadata
-- COST    O(processing)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'list', 'hash', 'hash', 'string', 'string'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local answered = redis.call('GET', KEYS[5])
if answered then return tonumber(answered) end
-- A late request must not take the message from a later claim.
if redis.call('HGET', KEYS[4], ARGV[1]) ~= ARGV[2] then return 0 end

redis.call('RPUSH', KEYS[2], ARGV[1])
local removed = redis.pcall('LREM', KEYS[1], 1, ARGV[1])
if removed ~= 1 and type(redis.pcall('RPOP', KEYS[2])) == 'table' then
  redis.pcall('LREM', KEYS[2], -1, ARGV[1])
end
if type(removed) == 'table' then return redis.error_reply(removed.err) end

redis.pcall('SET', KEYS[5], removed, 'PX', ARGV[3])
if removed == 1 then
  redis.pcall('HDEL', KEYS[3], ARGV[2])
  redis.pcall('HDEL', KEYS[4], ARGV[1])
  redis.pcall('DEL', KEYS[6])
end
return removed
