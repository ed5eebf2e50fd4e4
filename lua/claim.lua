-- claim: take messages without a lease (at-most-once once the reply has arrived).
--
-- KEYS[1] pending       list
-- KEYS[2] processing    list
-- KEYS[3] claim_ids     hash     claim id -> stored
-- KEYS[4] claim_backrefs hash    stored -> claim id
-- KEYS[5..] claim_result string  one per claim id: its stored message
-- ARGV[1] record_ttl_ms
-- ARGV[2] mode                   claim, or replay to answer recorded claims only
-- ARGV[3..] claim_id             as many as claim_result keys
-- RETURNS n, then n times: position of the id (from 1), stored, replayed (0 or 1)
-- WRITES  the claim's records first, the move last
-- COST    O(ids + replayed * processing), at most about 1 MiB of messages but for one that is larger

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
for i = 1, #KEYS do
  local want = i <= 2 and 'list' or i <= 4 and 'hash' or 'string'
  local kind = redis.call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= want then return redis.error_reply(WRONGTYPE) end
end
local PENDING, PROCESSING, IDS, BACKREFS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local function record(result, id, stored)
  redis.call('SET', result, stored, 'PX', ARGV[1])
  redis.call('HSET', IDS, id, stored)
  redis.call('HSET', BACKREFS, stored, id)
end

local reply = {0}
local function answer(position, stored, replayed)
  reply[1] = reply[1] + 1
  reply[#reply + 1] = position
  reply[#reply + 1] = stored
  reply[#reply + 1] = replayed
end

-- More in one call would hold up everybody else on this server.
local BYTES = 1048576
local taken, enough = 0, false
for position = 1, #KEYS - 4 do
  local result, id = KEYS[position + 4], ARGV[position + 2]
  local stored = redis.call('GET', result) or redis.call('HGET', IDS, id)
  if stored and not redis.call('LPOS', PROCESSING, stored) then
    -- Somebody settled it: the record speaks for nothing any more.
    redis.call('DEL', result)
    redis.call('HDEL', IDS, id)
    if redis.call('HGET', BACKREFS, stored) == id then redis.call('HDEL', BACKREFS, stored) end
    stored = nil
  end
  if stored then
    record(result, id, stored)
    answer(position, stored, 1)
  elseif ARGV[2] == 'claim' and not enough then
    stored = redis.call('LINDEX', PENDING, -1)
    enough = not stored or taken > 0 and taken + #stored > BYTES
    if not enough then
      taken = taken + #stored
      local before = redis.call('HGET', BACKREFS, stored)
      local ok, failure = pcall(function()
        record(result, id, stored)
        redis.call('LMOVE', PENDING, PROCESSING, 'RIGHT', 'LEFT')
      end)
      if not ok then
        redis.pcall('DEL', result)
        redis.pcall('HDEL', IDS, id)
        if before then
          redis.pcall('HSET', BACKREFS, stored, before)
        else
          redis.pcall('HDEL', BACKREFS, stored)
        end
        -- What was taken before is recorded and answered; only a call that took nothing fails.
        if reply[1] == 0 then
          return redis.error_reply(type(failure) == 'table' and failure.err or failure)
        end
        return reply
      end
      answer(position, stored, 0)
    end
  end
end
return reply
