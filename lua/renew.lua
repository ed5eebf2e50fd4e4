-- renew: move the deadline of a lease to now + lease_ms, not_after at the latest, if the token is current.
--
-- KEYS[1] lease_deadlines zset
-- KEYS[2] lease_tokens  hash     stored -> current fencing token
-- ARGV[1] stored
-- ARGV[2] token
-- ARGV[3] lease_ms
-- ARGV[4] not_after              ms of server time; 0 is no limit. It never brings a deadline forward
-- RETURNS integer                the deadline from now on, ms of server time; 0 stale (nothing written)
-- WRITES  lease_deadlines
-- COST    O(log leases)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'zset', 'hash'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then return 0 end
local time = redis.call('TIME')
local deadline = math.floor(time[1] * 1000 + time[2] / 1000) + tonumber(ARGV[3])
local not_after = tonumber(ARGV[4])
if not_after > 0 and deadline > not_after then
  local current = redis.call('ZSCORE', KEYS[1], ARGV[1])
  deadline = math.max(not_after, current and math.floor(tonumber(current)) or 0)
end
redis.call('ZADD', KEYS[1], deadline, ARGV[1])
return deadline
