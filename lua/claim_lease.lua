-- claim_lease: take messages under a lease with a fencing token.
--
-- Replays recorded claims first, then returns expired leases to pending, then grants new ones.
-- A message is moved to processing only after its lease and its claim record are written: no
-- failing call can leave it there without a lease.
--
-- KEYS[1] pending       list
-- KEYS[2] processing    list
-- KEYS[3] lease_deadlines zset   stored -> deadline, ms of server time
-- KEYS[4] lease_tokens  hash     stored -> current fencing token
-- KEYS[5] lease_token_counter string
-- KEYS[6] delivery_counts hash   stored -> claims granted
-- KEYS[7] dead_letters  list     used only with a delivery limit
-- KEYS[8] claim_refs    hash     token -> name of its claim_result key
-- KEYS[9] claim_ids     hash     claim id -> claim record
-- KEYS[10] claim_backrefs hash   token -> claim id
-- KEYS[11..] claim_result string one per claim id: its claim record
-- ARGV[1] lease_ms
-- ARGV[2] max_deliveries         0: no limit
-- ARGV[3] record_ttl_ms
-- ARGV[4] mode                   claim, or replay to answer recorded claims only
-- ARGV[5..] claim_id             as many as claim_result keys, at most 100
-- RETURNS n, then n times: position of the id (from 1), stored, token, deadline ms, delivery
--         count, replayed (0 or 1);
--         m, then m times: kind (reclaimed or dead_lettered), message id or empty, count,
--         replayed (0 or 1);
--         then the error that stopped the call early or empty, and the message id it concerned
-- WRITES  per message: durable before destructive, the move last
-- COST    O(ids + reclaimed * processing), at most 100 reclaims and 100 looks at pending

local WRONGTYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value'
local KINDS = {'list', 'list', 'zset', 'hash', 'string', 'hash', 'list', 'hash', 'hash', 'hash'}
for i = 1, #KEYS do
  -- Without a delivery limit the dead-letter key is a placeholder that nothing may judge.
  if i ~= 7 or ARGV[2] ~= '0' then
    local kind = redis.call('TYPE', KEYS[i]).ok
    if kind ~= 'none' and kind ~= (KINDS[i] or 'string') then
      return redis.error_reply(WRONGTYPE)
    end
  end
end
local PENDING, PROCESSING, DEADLINES, TOKENS, COUNTER = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local COUNTS, DEAD, REFS, IDS, BACKREFS = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local FIRST_RESULT, FIRST_ID, LIMIT = 10, 4, 100
local PREFIX = '\30RMQ1:'

local lease_ms, max_deliveries = tonumber(ARGV[1]), tonumber(ARGV[2])
local time = redis.call('TIME')
local now = math.floor(time[1] * 1000 + time[2] / 1000)
local deadline = now + lease_ms

local try = redis.pcall
local function failed(reply)
  return type(reply) == 'table' and reply.err
end

local function envelope(stored)
  if string.sub(stored, 1, #PREFIX) ~= PREFIX then return nil end
  local ok, value = pcall(cjson.decode, string.sub(stored, #PREFIX + 1))
  if ok and type(value) == 'table' and type(value.id) == 'string' then return value end
end

local function message_id(stored)
  local value = envelope(stored)
  return value and value.id or ''
end

-- The bare payload for the dead-letter list; what cannot be unwrapped goes there whole.
local function payload(stored)
  local value = envelope(stored)
  if not value then return stored end
  if type(value.payload) == 'string' then return value.payload end
  local text = value.payload_hex
  if type(text) == 'string' and #text % 2 == 0 and not string.find(text, '%X') then
    return (string.gsub(text, '..', function(pair) return string.char(tonumber(pair, 16)) end))
  end
  return stored
end

local function done(...)
  return not failed(try(...))
end

-- Forgets a lease and its claim record. Nothing here may fail the call. The deadline goes last and
-- only if all else went: what stays behind is then found as an expired lease by a later call.
local function forget(stored, token)
  local clean = true
  if token then
    local ref = try('HGET', REFS, token)
    if type(ref) == 'string' then
      -- The one key that is read from data and not declared; a cluster may refuse it.
      try('DEL', ref)
      clean = done('HDEL', REFS, token)
    end
    local id = try('HGET', BACKREFS, token)
    if type(id) == 'string' then
      clean = done('HDEL', IDS, id) and done('HDEL', BACKREFS, token) and clean
    end
    clean = clean and not failed(ref) and not failed(id)
  end
  if clean and done('HDEL', TOKENS, stored) then try('ZREM', DEADLINES, stored) end
end

local claims, claimed = {}, 0
local events, event_count = {}, 0
local function add_event(kind, id, count, replayed)
  event_count = event_count + 1
  for _, field in ipairs({kind, id, count, replayed}) do events[#events + 1] = field end
end
local function add_claim(position, stored, token, deliveries, replayed)
  claimed = claimed + 1
  for _, field in ipairs({position, stored, token, deadline, deliveries, replayed}) do
    claims[#claims + 1] = field
  end
end
local function finish(failure, id)
  local reply = {claimed}
  for _, field in ipairs(claims) do reply[#reply + 1] = field end
  reply[#reply + 1] = event_count
  for _, field in ipairs(events) do reply[#reply + 1] = field end
  reply[#reply + 1] = failure or ''
  reply[#reply + 1] = id or ''
  return reply
end

-- A claim record is the JSON array [stored, token], with the events of its call as a third
-- element when there were any: kind, message id, count, and so on.
local function parse(raw)
  if not raw then return nil end
  local ok, value = pcall(cjson.decode, raw)
  if ok and type(value) == 'table' and type(value[1]) == 'string' and type(value[2]) == 'string' then
    return value
  end
end

local function replay(position, result, id)
  local raw = redis.call('GET', result)
  local record = parse(raw)
  if not record then
    local other = redis.call('HGET', IDS, id)
    record = parse(other)
    if not raw and not other then return false end
    raw = other
  end
  -- A record speaks for the lease only while its token is the current one.
  local current = record and redis.call('HGET', TOKENS, record[1]) == record[2]
      and redis.call('LPOS', PROCESSING, record[1])
  if not current then
    redis.call('DEL', result)
    redis.call('HDEL', IDS, id)
    -- Tokens restart after a clean-up: remove only what names this very claim.
    if record and redis.call('HGET', REFS, record[2]) == result then redis.call('HDEL', REFS, record[2]) end
    if record and redis.call('HGET', BACKREFS, record[2]) == id then redis.call('HDEL', BACKREFS, record[2]) end
    return false
  end
  local stored, token = record[1], record[2]
  redis.call('ZADD', DEADLINES, deadline, stored)
  redis.call('SET', result, raw, 'PX', ARGV[3])
  redis.call('HSET', IDS, id, raw)
  redis.call('HSET', BACKREFS, token, id)
  redis.call('HSET', REFS, token, result)
  add_claim(position, stored, token, tonumber(redis.call('HGET', COUNTS, stored)) or 0, 1)
  if type(record[3]) == 'table' then
    for i = 1, #record[3] - 2, 3 do
      add_event(record[3][i], record[3][i + 1], tonumber(record[3][i + 2]) or 0, 1)
    end
  end
  return true
end

local open = {}
for position = 1, #KEYS - FIRST_RESULT do
  if not replay(position, KEYS[FIRST_RESULT + position], ARGV[FIRST_ID + position]) then
    open[#open + 1] = position
  end
end
if ARGV[4] ~= 'claim' or #open == 0 then return finish() end

-- Expired leases go back to the claim end, the oldest deadline last so that it is claimed first.
local expired = redis.call('ZRANGEBYSCORE', DEADLINES, '-inf', now, 'LIMIT', 0, LIMIT)
for i = #expired, 1, -1 do
  local stored = expired[i]
  local token = redis.call('HGET', TOKENS, stored)
  redis.call('RPUSH', PENDING, stored)
  local removed = try('LREM', PROCESSING, 1, stored)
  if removed ~= 1 then
    -- Not there (removed by hand), or not removable: take back the copy just pushed.
    if failed(try('RPOP', PENDING)) then try('LREM', PENDING, -1, stored) end
    if failed(removed) then return redis.error_reply(removed.err) end
    forget(stored, token)
    try('HDEL', COUNTS, stored)
  else
    forget(stored, token)
    -- Only writers without envelopes can leave two equal elements; the second follows next time.
    if string.sub(stored, 1, #PREFIX) ~= PREFIX and type(try('LPOS', PROCESSING, stored)) == 'number' then
      try('ZADD', DEADLINES, 0, stored)
    end
    add_event('reclaimed', message_id(stored), tonumber(redis.call('HGET', COUNTS, stored)) or 0, 0)
  end
end

-- Events up to this index are kept in the record of an earlier grant.
local kept = 0
local function record_of(stored, token)
  local fields = {stored, token}
  if #events > kept then
    local own = {}
    for i = kept + 1, #events, 4 do
      if events[i + 3] == 0 then
        own[#own + 1] = events[i]
        own[#own + 1] = events[i + 1]
        own[#own + 1] = tostring(events[i + 2])
      end
    end
    if #own > 0 then fields[3] = own end
  end
  return cjson.encode(fields)
end

local function undo_count(stored)
  if try('HINCRBY', COUNTS, stored, -1) == 0 then try('HDEL', COUNTS, stored) end
end

local looks = 0
for _, position in ipairs(open) do
  local result, id = KEYS[FIRST_RESULT + position], ARGV[FIRST_ID + position]
  local granted = false
  while not granted do
    if looks == LIMIT then return finish() end
    looks = looks + 1
    local stored = redis.call('LINDEX', PENDING, -1)
    if not stored then return finish() end
    local held = redis.call('HGET', TOKENS, stored)
    if held and redis.call('LPOS', PROCESSING, stored) then
      -- An equal element is under lease and both would share one record: this one waits its turn.
      redis.call('LMOVE', PENDING, PENDING, 'RIGHT', 'LEFT')
    else
      local deliveries = try('HINCRBY', COUNTS, stored, 1)
      if failed(deliveries) then return finish(deliveries.err, message_id(stored)) end
      if held then forget(stored, held) end
      if max_deliveries > 0 and deliveries > max_deliveries then
        local pushed = try('LPUSH', DEAD, payload(stored))
        if failed(pushed) then
          undo_count(stored)
          return finish(pushed.err, message_id(stored))
        end
        local popped = try('RPOP', PENDING)
        if failed(popped) then
          try('LPOP', DEAD)
          undo_count(stored)
          return finish(popped.err, message_id(stored))
        end
        try('HDEL', COUNTS, stored)
        add_event('dead_lettered', message_id(stored), deliveries, 0)
      else
        local token
        local ok, failure = pcall(function()
          redis.call('INCR', COUNTER)
          -- Read as text: beyond 2^53 a Lua number would lose digits.
          token = redis.call('GET', COUNTER)
          local raw = record_of(stored, token)
          redis.call('ZADD', DEADLINES, deadline, stored)
          redis.call('HSET', TOKENS, stored, token)
          redis.call('SET', result, raw, 'PX', ARGV[3])
          redis.call('HSET', REFS, token, result)
          redis.call('HSET', IDS, id, raw)
          redis.call('HSET', BACKREFS, token, id)
          redis.call('LMOVE', PENDING, PROCESSING, 'RIGHT', 'LEFT')
        end)
        if not ok then
          forget(stored, token)
          try('DEL', result)
          try('HDEL', IDS, id)
          undo_count(stored)
          return finish(type(failure) == 'table' and failure.err or failure, message_id(stored))
        end
        kept = #events
        add_claim(position, stored, token, deliveries, 0)
        granted = true
      end
    end
  end
end
return finish()
