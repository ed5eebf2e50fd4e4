-- add: enqueue a message that has no deduplication key.
--
-- KEYS[1] pending       list
-- KEYS[2] marker        string   first answer of this operation id, for its retries
-- KEYS[3] delivery_counts hash   stored -> claims granted
-- ARGV[1] stored                 the enveloped message
-- ARGV[2] marker_ttl_ms
-- ARGV[3] max_pending_length     empty: no limit
-- ARGV[4] overload_policy        drop_oldest, or anything else to refuse
-- RETURNS integer                1 enqueued, -1 full (nothing written)
-- WRITES  marker, then pending, then the count of what was dropped; drop_oldest removes first, so
--         that it works when memory is full
-- COST    O(1)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'string', 'hash'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

if redis.call('EXISTS', KEYS[2]) == 1 then return 1 end

local dropped
if ARGV[3] ~= '' and redis.call('LLEN', KEYS[1]) >= tonumber(ARGV[3]) then
  if ARGV[4] ~= 'drop_oldest' then return -1 end
  dropped = redis.call('RPOP', KEYS[1])
end

local reply = redis.pcall('SET', KEYS[2], '1', 'PX', ARGV[2])
if not reply.err then
  reply = redis.pcall('LPUSH', KEYS[1], ARGV[1])
end
if type(reply) == 'table' and reply.err then
  redis.pcall('DEL', KEYS[2])
  if dropped then redis.pcall('RPUSH', KEYS[1], dropped) end
  return redis.error_reply(reply.err)
end
-- What came back from a lease has a count, which must not outlive it.
if dropped then redis.pcall('HDEL', KEYS[3], dropped) end
return 1
