-- stats: how many messages are where, all at one moment.
--
-- KEYS[1] pending       list
-- KEYS[2] processing    list
-- KEYS[3] completed     list
-- KEYS[4] failed        list
-- KEYS[5] dead_letters  list
-- KEYS[6] lease_deadlines zset   stored -> deadline, ms of server time
-- KEYS[7] delays        zset     token -> when its message is due
-- RETURNS the lengths of the five lists; the delayed messages among those in processing, which
--         are not due yet; the leases and delays that are over and that no claim has met yet;
--         how many ms the oldest of these has been over, 0 if there is none
-- WRITES  nothing
-- COST    O(log leases)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'list', 'list', 'list', 'list', 'zset', 'zset'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local time = redis.call('TIME')
local now = math.floor(time[1] * 1000 + time[2] / 1000)

local counts = {}
for i = 1, 5 do counts[i] = redis.call('LLEN', KEYS[i]) end
counts[6] = redis.call('ZCOUNT', KEYS[7], '(' .. string.format('%.0f', now), '+inf')
counts[7] = redis.call('ZCOUNT', KEYS[6], '-inf', now)
-- A deadline of 0 is no time: it marks the second of two equal elements.
local oldest = redis.call('ZRANGEBYSCORE', KEYS[6], '(0', now, 'WITHSCORES', 'LIMIT', 0, 1)[2]
counts[8] = oldest and now - math.floor(tonumber(oldest)) or 0
return counts
