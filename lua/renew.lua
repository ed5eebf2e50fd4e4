-- renew: move the deadlines of leases to now + lease_ms, not_after at the latest, where the token is current.
--
-- KEYS[1] lease_deadlines zset
-- KEYS[2] lease_tokens  hash     stored -> current fencing token
-- ARGV[1] lease_ms
-- ARGV[2..] lease                stored, token, not_after, stored ...: at most 256 leases. not_after is ms of
--                                server time; 0 is no limit. It never brings a deadline forward
-- RETURNS for each lease: integer  the deadline from now on, ms of server time; 0 stale (nothing written)
-- WRITES  lease_deadlines, all in one call
-- COST    O(leases renewed * log leases)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'zset', 'hash'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local time = redis.call('TIME')
local until_ms = math.floor(time[1] * 1000 + time[2] / 1000) + tonumber(ARGV[1])
local deadlines, moved = {}, {}
for i = 2, #ARGV - 2, 3 do
  local deadline = 0
  if redis.call('HGET', KEYS[2], ARGV[i]) == ARGV[i + 1] then
    deadline = until_ms
    local not_after = tonumber(ARGV[i + 2])
    if not_after > 0 and deadline > not_after then
      local current = redis.call('ZSCORE', KEYS[1], ARGV[i])
      deadline = math.max(not_after, current and math.floor(tonumber(current)) or 0)
    end
    local n = #moved
    moved[n + 1], moved[n + 2] = deadline, ARGV[i]
  end
  deadlines[#deadlines + 1] = deadline
end
if #moved > 0 then redis.call('ZADD', KEYS[1], unpack(moved)) end
return deadlines
