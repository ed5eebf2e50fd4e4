-- cleanup: drop the token counter of a queue that has nothing in flight and no delivery counts.
--
-- Tokens restart at 1 afterwards. A message that was ever delivered keeps a delivery count until
-- it is settled, so no old token can meet a new one.
--
-- KEYS[1] processing    list
-- KEYS[2] lease_deadlines zset
-- KEYS[3] lease_tokens  hash
-- KEYS[4] delivery_counts hash
-- KEYS[5] lease_token_counter string
-- RETURNS integer                1 dropped, 0 still in use
-- WRITES  lease_token_counter
-- COST    O(1)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'zset', 'hash', 'hash', 'string'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local used = redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2])
    + redis.call('HLEN', KEYS[3]) + redis.call('HLEN', KEYS[4])
if used > 0 then return 0 end
redis.call('DEL', KEYS[5])
return 1
