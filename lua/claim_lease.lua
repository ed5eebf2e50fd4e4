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

local PENDING, PROCESSING, DEADLINES, TOKENS, COUNTER = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local COUNTS, DEAD, REFS, IDS, BACKREFS = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
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

local function failed(reply)
  return type(reply) == 'table' and reply.err
end

-- Every key is judged before the first write, by a read that fails where its type is another: most
-- here, TOKENS, IDS and the results later. What is read already serves below.
local function ended(most, how)
  return how('ZRANGEBYSCORE', DEADLINES, '-inf', now, 'LIMIT', 0, most)
end
local expired = ended(1, try)
local tail = try('LRANGE', PENDING, -1, -1)
local last_token = try('GET', COUNTER)
local refused = failed(expired) or failed(tail) or failed(last_token)
    or failed(try('LLEN', PROCESSING)) or failed(try('HLEN', COUNTS))
    or failed(try('HLEN', REFS)) or failed(try('HLEN', BACKREFS))
    -- Without a delivery limit the dead-letter key is a placeholder that nothing may judge.
    or limit > 0 and failed(try('LLEN', DEAD))
if refused then return redis.error_reply(refused) end

local function envelope(stored)
  if string.sub(stored, 1, #PREFIX) ~= PREFIX then return nil end
  local ok, value = pcall(cjson.decode, string.sub(stored, #PREFIX + 1))
  if ok and type(value) == 'table' and type(value.id) == 'string' then return value end
end

local function message_id(stored)
  local value = envelope(stored)
  return value and value.id or ''
end

local reply, claimed, events = {0}, 0, {}
local function add_claim(position, stored, token, deliveries, replayed)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = position, stored, token
  reply[n + 4], reply[n + 5], reply[n + 6] = deadline, deliveries, replayed
  claimed = claimed + 1
end
local function add_event(kind, id, count, replayed)
  local n = #events
  events[n + 1], events[n + 2], events[n + 3], events[n + 4] = kind, id, count, replayed
end
local function finish(failure, id)
  reply[1] = claimed
  reply[#reply + 1] = #events / 4
  for _, field in ipairs(events) do reply[#reply + 1] = field end
  reply[#reply + 1] = failure or ''
  reply[#reply + 1] = id or ''
  return reply
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
    for _, ref in ipairs(attempt('HMGET', REFS, unpack(tokens))) do
      -- The one key that is read from data and not declared; a cluster may refuse it.
      if ref then try('DEL', ref) end
    end
    local ids = {}
    for _, id in ipairs(attempt('HMGET', BACKREFS, unpack(tokens))) do
      if id then ids[#ids + 1] = id end
    end
    if #ids > 0 then attempt('HDEL', IDS, unpack(ids)) end
    attempt('HDEL', REFS, unpack(tokens))
    attempt('HDEL', BACKREFS, unpack(tokens))
  end
  if not failure then attempt('HDEL', TOKENS, unpack(messages)) end
  if not failure then attempt('ZREM', DEADLINES, unpack(messages)) end
  return failure
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

-- Answers an id from its record, or removes a record that no longer speaks for a lease.
local function replay(position, noted)
  local result, id = KEYS[FIRST_RESULT + position], ARGV[FIRST_ID + position]
  local raw = call('GET', result)
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
  add_claim(position, stored, token, deliveries, 1)
  if type(record[3]) == 'table' then
    for i = 1, #record[3] - 2, 3 do
      add_event(record[3][i], record[3][i + 1], tonumber(record[3][i + 2]) or 0, 1)
    end
  end
  return true
end

-- Positions of the ids that are not answered yet.
local open = {}
local notes = call('HMGET', IDS, unpack(ARGV, FIRST_ID + 1))
local recorded = call('EXISTS', unpack(KEYS, FIRST_RESULT + 1)) > 0
for position, note in ipairs(notes) do
  if not (note or recorded) or not replay(position, note) then open[#open + 1] = position end
end
-- Events from here on are kept in the record of the next grant.
local kept = #events

if ARGV[4] ~= 'claim' or #open == 0 then return finish() end
-- How many messages are likely to be below BYTES where the first one is this.
local function likely(first)
  return math.max(1, math.floor(BYTES / #first))
end
-- A replayed lease may have been the one that had ended.
if claimed > 0 then expired = ended(1, call) end
if #expired > 0 then
  local most = math.min(LIMIT, likely(expired[1]))
  if most > 1 then expired = ended(most, call) end
end

-- Expired leases go back to the claim end, the oldest deadline last so that it is claimed first.
if #expired > 0 then
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
      add_event('reclaimed', message_id(stored), tonumber(counts[i]) or 0, 0)
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

-- The bare payload for the dead-letter list; what cannot be unwrapped goes there whole. So does an
-- envelope with both kinds of payload, which no reader takes.
local function payload(stored)
  local value = envelope(stored)
  if not value then return stored end
  local text = value.payload_hex
  if text == nil and type(value.payload) == 'string' then return value.payload end
  if value.payload ~= nil then return stored end
  if type(text) == 'string' and #text % 2 == 0 and not string.find(text, '%X') then
    return (string.gsub(text, '..', function(pair) return string.char(tonumber(pair, 16)) end))
  end
  return stored
end

-- Deals with a message at the claim end that cannot be granted as it is. Gives a failure.
local function set_aside(stored, token, count)
  if token and call('LPOS', PROCESSING, stored) then
    -- An equal element is under lease and both would share one record: this one waits its turn.
    call('LMOVE', PENDING, PENDING, 'RIGHT', 'LEFT')
  elseif token then
    return forget({stored}, {token})
  else
    local pushed = try('LPUSH', DEAD, payload(stored))
    if failed(pushed) then return pushed.err end
    local popped = try('RPOP', PENDING)
    if failed(popped) then
      try('LPOP', DEAD)
      return popped.err
    end
    try('HDEL', COUNTS, stored)
    add_event('dead_lettered', message_id(stored), count + 1, 0)
  end
end

-- The token that is k after `last`, the counter as text: beyond 2^53 a Lua number loses digits.
local function next_token(last, k)
  local high, low = tonumber(string.sub(last, 1, -10)) or 0, tonumber(string.sub(last, -9)) + k
  if low >= 1e9 then high, low = high + 1, low - 1e9 end
  return high > 0 and string.format('%.0f%09d', high, low) or string.format('%d', low)
end

-- Grants the messages at the claim end, the outermost first, to the next open ids. Gives a failure.
local function grant(messages, counts, first)
  local last = last_token or '0'
  local counted = try('INCRBY', COUNTER, #messages)
  if failed(counted) then return counted.err end
  last_token = next_token(last, #messages)
  local fresh, records = {}, {}
  local deadlines, deliveries, tokens, refs, ids, backrefs = {}, {}, {}, {}, {}, {}
  for i, stored in ipairs(messages) do
    local result, id = KEYS[FIRST_RESULT + open[first + i]], ARGV[FIRST_ID + open[first + i]]
    local token = next_token(last, i)
    local record = {stored, token}
    if i == 1 and #events > kept then
      record[3] = {}
      for at = kept + 1, #events, 4 do
        for field = at, at + 2 do table.insert(record[3], tostring(events[field])) end
      end
    end
    fresh[i], records[i] = token, cjson.encode(record)
    local a, b = 2 * i - 1, 2 * i
    deadlines[a], deadlines[b] = deadline, stored
    deliveries[a], deliveries[b] = stored, counts[i] + 1
    tokens[a], tokens[b] = stored, token
    refs[a], refs[b] = token, result
    ids[a], ids[b] = id, records[i]
    backrefs[a], backrefs[b] = token, id
  end
  local recorded, moved = 0, false
  local ok, failure = pcall(function()
    call('ZADD', DEADLINES, unpack(deadlines))
    call('HSET', COUNTS, unpack(deliveries))
    call('HSET', TOKENS, unpack(tokens))
    for i, record in ipairs(records) do
      call('SET', refs[2 * i], record, 'PX', ARGV[3])
      recorded = i
    end
    call('HSET', REFS, unpack(refs))
    call('HSET', IDS, unpack(ids))
    call('HSET', BACKREFS, unpack(backrefs))
    if #messages == 1 then
      call('LMOVE', PENDING, PROCESSING, 'RIGHT', 'LEFT')
    else
      call('LPUSH', PROCESSING, unpack(messages))
      moved = true
      call('LTRIM', PENDING, 0, -1 - #messages)
    end
  end)
  if not ok then
    -- None of this was there before, but for the counts.
    if moved then try('LPOP', PROCESSING, #messages) end
    for i = 1, recorded do try('DEL', refs[2 * i]) end
    for i, stored in ipairs(messages) do
      try('HDEL', IDS, ids[2 * i - 1])
      try('HDEL', REFS, fresh[i])
      try('HDEL', BACKREFS, fresh[i])
      if counts[i] > 0 then try('HSET', COUNTS, stored, counts[i]) else try('HDEL', COUNTS, stored) end
      if not failed(try('HDEL', TOKENS, stored)) then try('ZREM', DEADLINES, stored) end
    end
    return type(failure) == 'table' and failure.err or failure
  end
  kept = #events
  for i, stored in ipairs(messages) do
    add_claim(open[first + i], stored, fresh[i], counts[i] + 1, 0)
  end
end

local granted, looks, bytes = 0, 0, 0
while granted < #open and looks < LIMIT and bytes < BYTES do
  tail = tail or call('LRANGE', PENDING, -1, -1)
  if #tail == 0 then break end
  local most = math.min(#open - granted, LIMIT - looks, likely(tail[1]))
  if most > 1 then tail = call('LRANGE', PENDING, -most, -1) end
  local tokens = call('HMGET', TOKENS, unpack(tail))
  local texts = call('HMGET', COUNTS, unpack(tail))
  local messages, counts, seen = {}, {}, {}
  if looks > 0 and bytes + #tail[#tail] > BYTES then break end
  for i = #tail, 1, -1 do
    local stored, count = tail[i], tonumber(texts[i]) or 0
    if tokens[i] or seen[stored] or limit > 0 and count >= limit then break end
    if #messages > 0 and bytes + #stored > BYTES then break end
    seen[stored] = true
    messages[#messages + 1], counts[#counts + 1] = stored, count
    bytes = bytes + #stored
  end
  if #messages == 0 then bytes = bytes + #tail[#tail] end
  local failure
  if #messages > 0 then
    failure = grant(messages, counts, granted)
    granted = granted + #messages
  else
    failure = set_aside(tail[#tail], tokens[#tail], tonumber(texts[#tail]) or 0)
  end
  if failure then return finish(failure, message_id(tail[#tail])) end
  looks = looks + math.max(#messages, 1)
  tail = nil
end
return finish()
