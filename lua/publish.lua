-- publish: enqueue a message unless its deduplication key was seen within the window.
--
-- KEYS[1] deduplication string   present while the key is remembered
-- KEYS[2] pending       list
-- KEYS[3] marker        string   first answer of this operation id, for its retries
-- ARGV[1] deduplication_ttl_ms
-- ARGV[2] stored                 the enveloped message
-- ARGV[3] marker_ttl_ms
-- ARGV[4] max_pending_length     empty: no limit
-- ARGV[5] overload_policy        drop_oldest, or anything else to refuse
-- RETURNS integer                1 enqueued, 0 duplicate, -1 full (nothing written)
-- WRITES  deduplication, marker, then pending as the last step
-- COST    O(1)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'string', 'list', 'string'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local answered = redis.call('GET', KEYS[3])
if answered then return tonumber(answered) end

local dropped
if ARGV[4] ~= '' then
  -- A duplicate is answered as a duplicate even when the queue is full.
  if redis.call('EXISTS', KEYS[1]) == 1 then
    redis.call('SET', KEYS[3], '0', 'PX', ARGV[3])
    return 0
  end
  if redis.call('LLEN', KEYS[2]) >= tonumber(ARGV[4]) then
    if ARGV[5] ~= 'drop_oldest' then return -1 end
    dropped = redis.call('RPOP', KEYS[2])
  end
end

-- Any failure from here on takes back what was written, so that a retry starts clean.
local fresh
local failure
local function step(...)
  if failure then return end
  local reply = redis.pcall(...)
  if type(reply) == 'table' and reply.err then failure = reply else return reply end
end
fresh = step('SET', KEYS[1], '', 'NX', 'PX', ARGV[1])
step('SET', KEYS[3], fresh and '1' or '0', 'PX', ARGV[3])
if fresh then step('LPUSH', KEYS[2], ARGV[2]) end
if failure then
  redis.pcall('DEL', KEYS[3])
  if fresh then redis.pcall('DEL', KEYS[1]) end
  if dropped then redis.pcall('RPUSH', KEYS[2], dropped) end
  return redis.error_reply(failure.err)
end
return fresh and 1 or 0
