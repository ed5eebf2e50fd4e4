-- redrive: move the oldest dead letters back to pending, each under a new envelope.
--
-- The caller has read the tail of the list and wrapped it; an element that is no longer the one
-- it read ends the call, so two operators cannot redrive one letter twice.
--
-- KEYS[1] dead_letters  list
-- KEYS[2] pending       list
-- KEYS[3] marker        string   first answer of this operation id, for its retries
-- ARGV[1] marker_ttl_ms
-- ARGV[2..] letter               letter, stored, letter, stored ...: oldest first, at most 100 pairs
-- RETURNS integer                letters moved
-- WRITES  per letter: pending, then dead_letters
-- COST    O(letters)

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i, want in ipairs({'list', 'list', 'string'}) do
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end

local answered = redis.call('GET', KEYS[3])
if answered then return tonumber(answered) end

local moved = 0
for i = 2, #ARGV - 1, 2 do
  if redis.call('LINDEX', KEYS[1], -1) ~= ARGV[i] then break end
  redis.call('LPUSH', KEYS[2], ARGV[i + 1])
  local popped = redis.pcall('RPOP', KEYS[1])
  if type(popped) == 'table' then
    redis.pcall('LPOP', KEYS[2])
    if moved == 0 then return redis.error_reply(popped.err) end
    break
  end
  moved = moved + 1
  -- After each letter: whatever fails later, a retry learns what was moved.
  redis.pcall('SET', KEYS[3], moved, 'PX', ARGV[1])
end
return moved
