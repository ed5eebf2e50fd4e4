-- claim_lease: take messages under a lease with a fencing token.
--
-- Replays recorded claims first, then returns expired leases to pending, then grants new ones.
-- A grant writes leases and claim records first, moves the messages last, and takes everything back
-- if a call fails: no message is in processing without a lease.
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
-- WRITES  durable before destructive, the move last
-- COST    O(ids + reclaimed * processing), at most 100 reclaims and 100 looks at pending, and about
--         1 MiB of messages each, but for one message that is larger

local PENDING, PROCESSING, DEADLINES, TOKENS, COUNTER, COUNTS, DEAD, REFS, IDS, BACKREFS =
  unpack(KEYS, 1, 10)
local FIRST_RESULT, FIRST_ID, LIMIT = 10, 4, 100
-- Each message is read, compared and written several times: a hundred large ones in one call would
-- hold up everybody else on this server for seconds.
local BYTES = 1048576
local PREFIX = '\30RMQ1:'
local call, try = redis.call, redis.pcall

local time = call('TIME')
local now = math.floor(time[1] * 1000 + time[2] / 1000)
local deadline = now + ARGV[1]
local limit = tonumber(ARGV[2])

-- Every key is judged before the first write, by a read that fails where its type is another. What
-- is read serves below. COUNTS, TOKENS and COUNTER follow where they are needed.
local expired = call('ZRANGEBYSCORE', DEADLINES, '-inf', now, 'LIMIT', 0, 1)
local tail = call('LRANGE', PENDING, -1, -1)
call('LLEN', PROCESSING)
call('HLEN', REFS)
call('HLEN', BACKREFS)
-- Without a delivery limit the dead-letter key is a placeholder that nothing may judge.
if limit > 0 then call('LLEN', DEAD) end
local notes = call('HMGET', IDS, unpack(ARGV, FIRST_ID + 1))
local recorded = call('EXISTS', unpack(KEYS, FIRST_RESULT + 1)) > 0

local function failed(answer)
  return type(answer) == 'table' and answer.err
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

-- How many messages are likely to be below BYTES where the first one is this.
local function likely(first)
  return math.max(1, math.floor(BYTES / #first))
end

-- Forgets leases and their claim records, and gives the text of a failure. The deadlines go last
-- and only if all else went: what stays is then found as an expired lease by a later call.
local function forget(messages, tokens)
  local failure
  local function attempt(...)
    local answer = try(...)
    failure = failure or failed(answer)
    return failed(answer) and {} or answer
  end
  if #tokens > 0 then
    for _, ref in ipairs(attempt('HMGET', KEYS[8], unpack(tokens))) do
      -- The one key that is read from data and not declared; a cluster may refuse it.
      if ref then try('DEL', ref) end
    end
    local ids = {}
    for _, id in ipairs(attempt('HMGET', KEYS[10], unpack(tokens))) do
      if id then ids[#ids + 1] = id end
    end
    if #ids > 0 then attempt('HDEL', KEYS[9], unpack(ids)) end
    attempt('HDEL', KEYS[8], unpack(tokens))
    attempt('HDEL', KEYS[10], unpack(tokens))
  end
  if not failure then attempt('HDEL', KEYS[4], unpack(messages)) end
  if not failure then attempt('ZREM', KEYS[3], unpack(messages)) end
  return failure
end

-- The answer's claims, six fields each after their number, and its events, four fields each.
local reply, events = {0}, {}
-- Positions of the ids that are not answered yet.
local open = {}

local known = recorded
for position = 1, #notes do
  known = known or notes[position]
  open[position] = position
end
if known or #expired > 0 then
  call('HLEN', COUNTS)
  call('HLEN', TOKENS)
  call('GET', COUNTER)
end

if known then
  -- A claim record is the JSON array [stored, token], with the events of its call as a third
  -- element when there were any: kind, message id, count, and so on.
  local function parse(raw)
    if not raw then return nil end
    local ok, value = pcall(cjson.decode, raw)
    if ok and type(value) == 'table' and type(value[1]) == 'string' and type(value[2]) == 'string' then
      return value
    end
  end

  -- Answers an id from its record, or removes a record that no longer speaks for a lease.
  local function replay(position, raw, noted)
    local result, id = KEYS[FIRST_RESULT + position], ARGV[FIRST_ID + position]
    local record = parse(raw)
    if not record then
      if not raw and not noted then return false end
      raw, record = noted, parse(noted)
    end
    -- A record speaks for the lease only while its token is the current one.
    local current = record and call('HGET', TOKENS, record[1]) == record[2]
        and call('LPOS', PROCESSING, record[1])
    if not current then
      call('DEL', result)
      call('HDEL', IDS, id)
      -- Tokens restart after a clean-up: remove only what names this very claim.
      if record and call('HGET', REFS, record[2]) == result then call('HDEL', REFS, record[2]) end
      if record and call('HGET', BACKREFS, record[2]) == id then call('HDEL', BACKREFS, record[2]) end
      return false
    end
    local stored, token = record[1], record[2]
    local deliveries = tonumber(call('HGET', COUNTS, stored)) or 0
    call('ZADD', DEADLINES, deadline, stored)
    call('SET', result, raw, 'PX', ARGV[3])
    call('HSET', IDS, id, raw)
    call('HSET', BACKREFS, token, id)
    call('HSET', REFS, token, result)
    local n = #reply
    reply[n + 1], reply[n + 2], reply[n + 3] = position, stored, token
    reply[n + 4], reply[n + 5], reply[n + 6] = deadline, deliveries, 1
    if type(record[3]) == 'table' then
      for i = 1, #record[3] - 2, 3 do
        n = #events
        events[n + 1], events[n + 2] = record[3][i], record[3][i + 1]
        events[n + 3], events[n + 4] = tonumber(record[3][i + 2]) or 0, 1
      end
    end
    return true
  end

  local raws = {}
  for position = 1, #notes do raws[position] = call('GET', KEYS[FIRST_RESULT + position]) end
  open = {}
  for position, note in ipairs(notes) do
    if not replay(position, raws[position], note) then open[#open + 1] = position end
  end
end
if ARGV[4] ~= 'claim' then open = {} end
-- Events from here on are kept in the record of the next grant.
local kept = #events

-- Expired leases go back to the claim end, the oldest deadline last so that it is claimed first.
if #expired > 0 and #open > 0 then
  -- More than the first, and without a lease that was just replayed.
  expired = call('ZRANGEBYSCORE', DEADLINES, '-inf', now, 'LIMIT', 0, math.min(LIMIT, likely(expired[1])))
end
if #expired > 0 and #open > 0 then
  tail = nil
  local tokens = call('HMGET', TOKENS, unpack(expired))
  local counts = call('HMGET', COUNTS, unpack(expired))
  local back, held, gone, failure = {}, {}, {}, nil
  for i = #expired, 1, -1 do
    local stored = expired[i]
    local pushed = try('RPUSH', PENDING, stored)
    failure = failed(pushed)
    if failure then break end
    -- From the tail: those that expire were claimed long ago.
    local removed = try('LREM', PROCESSING, -1, stored)
    if removed ~= 1 then
      -- Not there (removed by hand), or not removable: take back the copy just pushed.
      if failed(try('RPOP', PENDING)) then try('LREM', PENDING, -1, stored) end
      failure = failed(removed)
      if failure then break end
      gone[#gone + 1] = stored
    else
      local n = #events
      events[n + 1], events[n + 2] = 'reclaimed', message_id(stored)
      events[n + 3], events[n + 4] = tonumber(counts[i]) or 0, 0
    end
    back[#back + 1] = stored
    held[#held + 1] = tokens[i] or nil
  end
  if #back > 0 then forget(back, held) end
  if #gone > 0 then try('HDEL', COUNTS, unpack(gone)) end
  if failure then return redis.error_reply(failure) end
  for _, stored in ipairs(back) do
    -- Only writers without envelopes can leave two equal elements; the second follows next time.
    if string.sub(stored, 1, #PREFIX) ~= PREFIX and type(try('LPOS', PROCESSING, stored)) == 'number' then
      try('ZADD', DEADLINES, 0, stored)
    end
  end
end

-- Grants what is at the claim end, the outermost first, to the open ids in their order. `stopped`
-- is the failure that ended this early, and `failing` the message it concerned.
local granted, looks, bytes, stopped, failing = 0, 0, 0, nil, nil
while granted < #open and looks < LIMIT and bytes < BYTES do
  tail = tail or call('LRANGE', PENDING, -1, -1)
  local outermost = tail[1]
  if not outermost then break end
  if looks > 0 and bytes + #outermost > BYTES then break end
  local most = math.min(#open - granted, LIMIT - looks, likely(outermost))
  if most > 1 then tail = call('LRANGE', PENDING, -most, -1) end
  local tokens = call('HMGET', TOKENS, unpack(tail))
  local texts = call('HMGET', COUNTS, unpack(tail))
  -- Those that can be granted as they are, up to the first that cannot.
  local messages, counts, seen = {}, {}, {}
  for i = #tail, 1, -1 do
    local stored, count = tail[i], tonumber(texts[i]) or 0
    if tokens[i] or seen[stored] or limit > 0 and count >= limit then break end
    if #messages > 0 and bytes + #stored > BYTES then break end
    seen[stored] = true
    messages[#messages + 1], counts[#counts + 1] = stored, count
    bytes = bytes + #stored
  end
  local n = #messages
  if n > 0 then
    local last = try('INCRBY', COUNTER, n)
    if failed(last) then
      -- The key that is judged by its first write: of a wrong type it is answered as all others are.
      if #reply == 1 and #events == 0 and string.find(last.err, '^WRONGTYPE') then return last end
      stopped, failing = last.err, message_id(outermost)
      break
    end
    -- The token before the first of these. A Lua number holds 53 bits, and the counter has 63: past
    -- that it is counted in two parts, the lower one of nine digits.
    local high, low = nil, last - n
    if last >= 2 ^ 53 then
      local text = call('GET', COUNTER)
      high, low = tonumber(string.sub(text, 1, -10)), tonumber(string.sub(text, -9)) - n
      if low < 0 then high, low = high - 1, low + 1e9 end
    end
    local deadlines, deliveries, held = {0, 0}, {0, 0}, {0, 0}
    local refs, ids, backrefs = {0, 0}, {0, 0}, {0, 0}
    for i = 1, n do
      local position, stored = open[granted + i], messages[i]
      local result, id = KEYS[FIRST_RESULT + position], ARGV[FIRST_ID + position]
      low = low + 1
      if high and low >= 1e9 then high, low = high + 1, low - 1e9 end
      local token = high and string.format('%.0f%09d', high, low) or string.format('%.0f', low)
      local record = {stored, token}
      if i == 1 and #events > kept then
        record[3] = {}
        for at = kept + 1, #events, 4 do
          for field = at, at + 2 do table.insert(record[3], tostring(events[field])) end
        end
      end
      local a, b = 2 * i - 1, 2 * i
      deadlines[a], deadlines[b] = deadline, stored
      deliveries[a], deliveries[b] = stored, counts[i] + 1
      held[a], held[b] = stored, token
      refs[a], refs[b] = token, result
      ids[a], ids[b] = id, cjson.encode(record)
      backrefs[a], backrefs[b] = token, id
    end
    stopped = failed(try('ZADD', DEADLINES, unpack(deadlines)))
        or failed(try('HSET', COUNTS, unpack(deliveries)))
        or failed(try('HSET', TOKENS, unpack(held)))
    local written = 0
    while not stopped and written < n do
      stopped = failed(try('SET', refs[2 * written + 2], ids[2 * written + 2], 'PX', ARGV[3]))
      if not stopped then written = written + 1 end
    end
    stopped = stopped or failed(try('HSET', REFS, unpack(refs)))
        or failed(try('HSET', IDS, unpack(ids)))
        or failed(try('HSET', BACKREFS, unpack(backrefs)))
    if n == 1 then
      stopped = stopped or failed(try('LMOVE', PENDING, PROCESSING, 'RIGHT', 'LEFT'))
    elseif not stopped then
      stopped = failed(try('LPUSH', PROCESSING, unpack(messages)))
      if not stopped then
        stopped = failed(try('LTRIM', PENDING, 0, -1 - n))
        if stopped then try('LPOP', PROCESSING, n) end
      end
    end
    if stopped then
      -- None of this was there before, but for the counts.
      for i = 1, written do try('DEL', refs[2 * i]) end
      for i, stored in ipairs(messages) do
        try('HDEL', IDS, ids[2 * i - 1])
        try('HDEL', REFS, refs[2 * i - 1])
        try('HDEL', BACKREFS, refs[2 * i - 1])
        if counts[i] > 0 then try('HSET', COUNTS, stored, counts[i]) else try('HDEL', COUNTS, stored) end
        if not failed(try('HDEL', TOKENS, stored)) then try('ZREM', DEADLINES, stored) end
      end
    else
      kept = #events
      local at = #reply
      for i = 1, n do
        reply[at + 1], reply[at + 2], reply[at + 3] = open[granted + i], messages[i], refs[2 * i - 1]
        reply[at + 4], reply[at + 5], reply[at + 6] = deadline, counts[i] + 1, 0
        at = at + 6
      end
      granted = granted + n
    end
    looks = looks + n
  else
    local stored, token, count = tail[#tail], tokens[#tail], tonumber(texts[#tail]) or 0
    if token and call('LPOS', PROCESSING, stored) then
      -- An equal element is under lease and both would share one record: this one waits its turn.
      call('LMOVE', PENDING, PENDING, 'RIGHT', 'LEFT')
    elseif token then
      stopped = forget({stored}, {token})
    else
      -- The bare payload for the dead-letter list; what cannot be unwrapped goes there whole. So
      -- does an envelope with both kinds of payload, which no reader takes.
      local value, payload = envelope(stored), stored
      if value and value.payload_hex == nil and type(value.payload) == 'string' then
        payload = value.payload
      elseif value and value.payload == nil then
        local text = value.payload_hex
        if type(text) == 'string' and #text % 2 == 0 and not string.find(text, '%X') then
          payload = string.gsub(text, '..', function(pair) return string.char(tonumber(pair, 16)) end)
        end
      end
      stopped = failed(try('LPUSH', DEAD, payload))
      if not stopped then
        stopped = failed(try('RPOP', PENDING))
        if stopped then
          try('LPOP', DEAD)
        else
          try('HDEL', COUNTS, stored)
          local at = #events
          events[at + 1], events[at + 2] = 'dead_lettered', message_id(stored)
          events[at + 3], events[at + 4] = count + 1, 0
        end
      end
    end
    bytes, looks = bytes + #stored, looks + 1
  end
  if stopped then
    failing = message_id(tail[#tail])
    break
  end
  tail = nil
end

reply[1] = (#reply - 1) / 6
reply[#reply + 1] = #events / 4
for i = 1, #events do reply[#reply + 1] = events[i] end
reply[#reply + 1] = stopped or ''
reply[#reply + 1] = failing or ''
return reply
