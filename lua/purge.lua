-- purge: remove the oldest elements of a list for good.
--
-- KEYS[1] list          list
-- KEYS[2] delivery_counts hash   stored -> claims granted
-- KEYS[3] marker        string   first answer of this operation id, for its retries
-- ARGV[1] max                    at most 100
-- ARGV[2] enveloped              1: the elements are stored messages; 0: payloads of a log
-- ARGV[3] marker_ttl_ms
-- RETURNS integer                elements removed
-- WRITES  the list, then delivery counts
-- COST    O(max)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'hash', 'string'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local answered = redis.call('GET', KEYS[3])
if answered then return tonumber(answered) end

local count = math.min(redis.call('LLEN', KEYS[1]), tonumber(ARGV[1]))
if count == 0 then return 0 end
local messages = {}
if ARGV[2] == '1' then messages = redis.call('LRANGE', KEYS[1], -count, -1) end
redis.call('LTRIM', KEYS[1], 0, -1 - count)

-- Removed: nothing below may turn the answer into an error.
redis.pcall('SET', KEYS[3], count, 'PX', ARGV[3])
if #messages > 0 then redis.pcall('HDEL', KEYS[2], unpack(messages)) end
return count
