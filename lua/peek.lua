-- peek: look at the newest messages of a list, all at one moment.
--
-- KEYS[1] list          list
-- KEYS[2] lease_deadlines zset   stored -> deadline, ms of server time
-- KEYS[3] lease_tokens  hash     stored -> current fencing token
-- KEYS[4] delivery_counts hash   stored -> claims granted
-- KEYS[5] delays        zset     token -> when its message is due
-- ARGV[1] max                    at most 1,000
-- RETURNS the time, ms of the server; n, then n times: the element, claims granted, deadline ms or
--         nil, delayed (0 or 1). The last three are those of a queued message; for logs and dead
--         letters they say nothing
-- WRITES  nothing
-- COST    O(max * log leases)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'zset', 'hash', 'hash', 'zset'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local time = redis.call('TIME')
local now = math.floor(time[1] * 1000 + time[2] / 1000)

local reply = {now, 0}
local elements = redis.call('LRANGE', KEYS[1], 0, ARGV[1] - 1)
for i, element in ipairs(elements) do
  local deadline = redis.call('ZSCORE', KEYS[2], element)
  local token = redis.call('HGET', KEYS[3], element)
  local due = token and redis.call('ZSCORE', KEYS[5], token)
  local at = 4 * i - 1
  reply[at] = element
  reply[at + 1] = tonumber(redis.call('HGET', KEYS[4], element)) or 0
  reply[at + 2] = deadline and math.floor(tonumber(deadline))
  reply[at + 3] = due and tonumber(due) > now and 1 or 0
end
reply[2] = #elements
return reply
