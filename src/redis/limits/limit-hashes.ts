/** Reads and writes caps and buckets, each of which is a field of a hash by its id. */
export const limitHashes = `
local longestLeaseMs = 900000
local forever = math.huge

local function loadFields(key, known, ids, read)
  local missing = {}
  for _, id in ipairs(ids) do
    if known[id] == nil then missing[#missing + 1] = id end
  end
  if #missing == 0 then return end
  local packed = call('HMGET', key, unpack(missing))
  for index, id in ipairs(missing) do known[id] = packed[index] and read(packed[index]) end
end

-- Drops some of what is as good as unknown, once a second at most. What is used again would not drop the rest.
local function sweep(key, read, isOver)
  local smallest, sweepMs = 32, 1000
  -- No id has a control character.
  local sweepField = string.char(1)
  if call('HLEN', key) <= smallest then return end
  local state = call('HGET', key, sweepField)
  local sweptAt = state and struct.unpack('<d', state) or never
  if now >= sweptAt and now - sweptAt < sweepMs then return end
  local page = call('HSCAN', key, state and string.sub(state, 9) or '0', 'COUNT', 100)
  local over = {}
  for index = 1, #page[2], 2 do
    local id, packed = page[2][index], page[2][index + 1]
    if id ~= sweepField and isOver(read(packed)) then over[#over + 1] = id end
  end
  for first = 1, #over, 1000 do write('HDEL', key, unpack(over, first, math.min(first + 999, #over))) end
  write('HSET', key, sweepField, struct.pack('<d', now) .. page[1])
end

-- Writes what has changed, and lets the hash live for as long as any of it needs.
local function writeFields(key, known, changed, pack, lifetimeOf)
  local spareMs = 60000
  local before = call('PTTL', key)
  local lifetime = 0
  for id in pairs(changed) do
    if known[id] then
      write('HSET', key, id, pack(known[id]))
      lifetime = math.max(lifetime, lifetimeOf(known[id]))
    else
      write('HDEL', key, id)
    end
  end
  if lifetime == forever then
    if before >= 0 then write('PERSIST', key) end
  elseif lifetime > 0 and before ~= -1 and lifetime > before then
    write('PEXPIRE', key, lifetime + spareMs)
  end
end
`;
