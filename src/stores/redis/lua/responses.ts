// Four keys of each account, which all live as long as its newest response:
// - a hash of the heads, JSON that the caller makes, by the ids of responses;
// - a sorted set of the ids by their stamps: the moment at which they were put, or later, where another one has that;
// - a hash: under `stamp` the response's text, under `stamp:at` when it was put, under `stamp:position` the text of an item,
//   and under `bytes` the account's sum;
// - a sorted set of `item id, NUL, stamp:position`, all of one score, so that they are in the order of their bytes.

/** What each script begins with. It is followed by what defines `now`. */
export const responsesPrelude = `
local headsKey, orderKey, textsKey, itemsKey = unpack(KEYS)
local call = redis.call
`;

export const responsesState = `
local ttlMs = tonumber(ARGV[1])

-- As many digits for all: the order of the texts is that of the numbers.
local function toStamp(score)
  return string.format('%015.0f', tonumber(score))
end

local function itemField(stamp, position)
  return stamp .. ':' .. string.format('%06d', position)
end

-- A server that evicts keys may have dropped the texts alone.
local function isAlive(stamp)
  local putAt = call('HGET', textsKey, stamp .. ':at')
  return putAt and tonumber(putAt) + ttlMs > now
end

-- The stamp and the head of a response, nothing where there is none or it has expired.
local function readHead(id)
  local score = call('ZSCORE', orderKey, id)
  local stamp = score and toStamp(score)
  if not stamp or not isAlive(stamp) then return nil end
  return stamp, call('HGET', headsKey, id) or nil
end

local function itemIds(head)
  local ids = cjson.decode(head)
  local count = #ids.input
  for index, id in ipairs(ids.output) do ids.input[count + index] = id end
  return ids.input
end

-- The head, the text, and the texts of the items.
local function readResponse(stamp, head)
  local response = { head, call('HGET', textsKey, stamp) }
  for position = 1, #itemIds(head) do
    response[position + 2] = call('HGET', textsKey, itemField(stamp, position))
  end
  return response
end

local function remove(id)
  local stamp, head = toStamp(call('ZSCORE', orderKey, id)), call('HGET', headsKey, id)
  call('ZREM', orderKey, id)
  if not head then return end
  for position, itemId in ipairs(itemIds(head)) do
    local field = itemField(stamp, position)
    call('HDEL', textsKey, field)
    call('ZREM', itemsKey, itemId .. '\\0' .. field)
  end
  call('HDEL', textsKey, stamp, stamp .. ':at')
  call('HINCRBY', textsKey, 'bytes', -cjson.decode(head).bytes)
  call('HDEL', headsKey, id)
  if call('ZCARD', orderKey) == 0 then call('DEL', textsKey) end
end
`;

export const putResponse = `
local maxBytes, id, head, text = tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local bytes = cjson.decode(head).bytes

-- A few at a time, so that no other client is kept waiting.
local oldest = call('ZRANGE', orderKey, 0, 15, 'WITHSCORES')
for index = 1, #oldest, 2 do
  if isAlive(toStamp(oldest[index + 1])) then break end
  remove(oldest[index])
end
if call('ZSCORE', orderKey, id) then remove(id) end
if bytes > maxBytes then return 0 end

local newest = call('ZREVRANGE', orderKey, 0, 0, 'WITHSCORES')[2]
local stamp = toStamp(now)
if newest and tonumber(newest) >= now then stamp = toStamp(newest + 1) end
for position, itemId in ipairs(itemIds(head)) do
  local field = itemField(stamp, position)
  call('HSET', textsKey, field, ARGV[5 + position])
  call('ZADD', itemsKey, 0, itemId .. '\\0' .. field)
end
call('HSET', textsKey, stamp, text, stamp .. ':at', string.format('%.0f', now))
call('HSET', headsKey, id, head)
call('ZADD', orderKey, stamp, id)
local total = call('HINCRBY', textsKey, 'bytes', bytes)
while total > maxBytes do
  remove(call('ZRANGE', orderKey, 0, 0)[1])
  total = tonumber(call('HGET', textsKey, 'bytes') or 0)
end
for _, key in ipairs(KEYS) do call('PEXPIRE', key, ttlMs) end
return 1
`;

export const findResponse = `
local stamp, head = readHead(ARGV[2])
if not head then return {} end
return readResponse(stamp, head)
`;

/** From the newest back, as far as they are there. */
export const findResponseChain = `
local id, most = ARGV[2], tonumber(ARGV[3])
local chain = {}
while id and #chain < most do
  local stamp, head = readHead(id)
  if not head then break end
  chain[#chain + 1] = readResponse(stamp, head)
  id = cjson.decode(head).previousResponseId
end
return chain
`;

/** How many bytes those take that {@link findResponseChain} gives; -1 where there are none. */
export const measureResponseChain = `
local id, most = ARGV[2], tonumber(ARGV[3])
local bytes, count = -1, 0
while id and count < most do
  local _, text = readHead(id)
  if not text then break end
  local head = cjson.decode(text)
  bytes, count, id = math.max(bytes, 0) + head.bytes, count + 1, head.previousResponseId
end
return bytes
`;

/** Whether there are further items, and then ids and texts by turns; nothing where the page has no beginning. */
export const findResponseInput = `
local after, limit, isUp = ARGV[3], tonumber(ARGV[4]), ARGV[5] == 'asc'
local stamp, text = readHead(ARGV[2])
if not text then return {} end
local ids = cjson.decode(text).input
local place = isUp and 0 or #ids + 1
if after ~= '' then
  place = nil
  for index, itemId in ipairs(ids) do
    if itemId == after and (isUp or not place) then place = index end
  end
  if not place then return {} end
end
local step = isUp and 1 or -1
local left = isUp and #ids - place or place - 1
local page = { left > limit and 1 or 0 }
for turn = 1, math.min(limit, left) do
  local index = place + step * turn
  page[turn * 2] = ids[index]
  page[turn * 2 + 1] = call('HGET', textsKey, itemField(stamp, index))
end
return page
`;

/** The field of the newest item of an id; nothing where none is kept. */
const newestField = `
local function newestField(itemId)
  local begin = itemId .. '\\0'
  local newest = call('ZREVRANGEBYLEX', itemsKey, '[' .. begin .. '\\255', '[' .. begin, 'LIMIT', 0, 1)[1]
  local field = newest and string.sub(newest, #begin + 1)
  if field and isAlive(string.sub(field, 1, 15)) then return field end
  return nil
end
`;

export const measureResponseItems = `${newestField}
local sizes = {}
for index = 1, tonumber(ARGV[2]) do
  local field = newestField(ARGV[2 + index])
  sizes[index] = field and call('HSTRLEN', textsKey, field) or -1
end
return sizes
`;

export const findResponseItems = `${newestField}
local texts = {}
for index = 1, tonumber(ARGV[2]) do
  local field = newestField(ARGV[2 + index])
  texts[index] = field and call('HGET', textsKey, field) or false
end
return texts
`;

export const deleteResponse = `
local id = ARGV[2]
local stamp = readHead(id)
if not stamp then return 0 end
remove(id)
return 1
`;

export const forgetResponses = "return redis.call('UNLINK', unpack(KEYS))";
