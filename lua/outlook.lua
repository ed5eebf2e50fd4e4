-- outlook: tell an idle consumer whether messages are pending and when the next lease ends.
--
-- The member of the earliest deadline is a whole message, so only its score leaves the server.
--
-- KEYS[1] pending       list
-- KEYS[2] lease_deadlines zset
-- RETURNS pending length; ms of server time until the earliest deadline, 0 if it has passed, nil
--         without leases
-- WRITES  nothing
-- COST    O(log n)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'zset'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local LONGEST = 2 ^ 31
local earliest = tonumber(redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2])
local due = false
if earliest then
  local time = redis.call('TIME')
  local now = math.floor(time[1] * 1000 + time[2] / 1000)
  due = math.max(0, math.min(LONGEST, math.ceil(earliest - now)))
end
return {redis.call('LLEN', KEYS[1]), due}
