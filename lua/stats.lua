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
--         how many ms the oldest of these has been over, 0 if there is none; in how many ms the
--         first and the last of the leases that run will end, 0 if there is none
-- WRITES  nothing
-- COST    O(log leases), 160 counts at most

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

-- A delay has the same time in both sets, so what ends by a time without them is a difference.
local after = '(' .. string.format('%.0f', now)
local function leases_until(time)
  local text = string.format('%.0f', time)
  return redis.call('ZCOUNT', KEYS[6], after, text) - redis.call('ZCOUNT', KEYS[7], after, text)
end
local function end_of(number, last)
  local before, by = now, last
  while by - before > 1 do
    local middle = math.floor((before + by) / 2)
    if leases_until(middle) >= number then by = middle else before = middle end
  end
  return by - now
end
local last = redis.call('ZRANGE', KEYS[6], -1, -1, 'WITHSCORES')[2]
-- Times that no client of ours can have set would take as long to search as they are large.
last = math.min(last and math.ceil(tonumber(last)) or 0, now + 2^39)
local leases = last > now and leases_until(last) or 0
counts[9] = leases > 0 and end_of(1, last) or 0
counts[10] = leases > 0 and end_of(leases, last) or 0
return counts
