import { buckets, caps } from "./caps.js";
import { prepaid } from "./prepaid.js";
import { replyCodes as code } from "./replies.js";

/** Reads and writes caps and buckets, each of which is a field of a hash by its id. */
const limitHashes = `
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

/**
 * What an account has beside its windows: prepaid credits, caps and buckets. Most have none of it, and most scripts need
 * none, so the functions are made at their first use. What they change is written by `keep`.
 */
export const limits = `
local function makeLimits()
${limitHashes}
${prepaid}
${caps}
${buckets}

-- Forgets what was read, and what was changed and not kept.
local function drop()
  prepaid, isPrepaidChanged = nil, false
  caps, changedCaps, buckets, changedBuckets = {}, {}, {}, {}
end
drop()

local function firstOfEach(items)
  local ids = {}
  for index, item in ipairs(items) do ids[index] = item[1] end
  return ids
end

local function load(capIds, rateIds)
  loadFields(capsKey, caps, capIds, unpackCap)
  loadFields(ratesKey, buckets, rateIds, unpackBucket)
end

local function keep()
  if isPrepaidChanged then writePrepaid() end
  if next(changedCaps) then
    local changed = changedCaps
    changedCaps = {}
    writeFields(capsKey, caps, changed, packCap, capLifetime)
    sweep(capsKey, unpackCap, isCapOver)
  end
  if next(changedBuckets) then
    local changed = changedBuckets
    changedBuckets = {}
    writeFields(ratesKey, buckets, changed, packBucket, bucketLifetime)
    sweep(ratesKey, unpackBucket, isBucketIdle)
  end
end

-- What the request names, as it is now; nil where the bounds of a cap miss now.
local function open(capLimits, rateLimits)
  load(firstOfEach(capLimits), firstOfEach(rateLimits))
  local instances = openCaps(capLimits)
  return instances and { caps = instances, buckets = openBuckets(rateLimits), capLimits = capLimits, rateLimits = rateLimits }
end

local function denies(named, need)
  for index, cap in ipairs(named.caps) do
    if cap.used + cap.held + need > named.capLimits[index][2] then return true end
  end
  for index, bucket in ipairs(named.buckets) do
    if isBlocked(bucket, named.rateLimits[index]) then return true end
  end
  return false
end

local function canHold(named, amount)
  local held = getPrepaid().held
  for _, cap in ipairs(named.caps) do held = math.max(held, cap.held) end
  return held + amount <= maxInteger
end

-- Holds what an admission takes, so much of it in prepaid credits where the account has some, and answers the part of its
-- lease.
local function hold(named, amount, ofPrepaid)
  local part = { prepaidAt = ofPrepaid and now, prepaid = ofPrepaid or 0, caps = {}, takes = {}, uses = {} }
  if part.prepaid > 0 then holdPrepaid(part.prepaid) end
  for index, cap in ipairs(named.caps) do
    local id = named.capLimits[index][1]
    cap.held = cap.held + amount
    if amount > 0 then
      caps[id] = cap
      changedCaps[id] = true
    end
    part.caps[index] = { id, cap.start, cap.finish }
  end
  for index, bucket in ipairs(named.buckets) do
    local rate = named.rateLimits[index]
    takeFrom(bucket, rate)
    part.takes[index] = { rate[1], rate[2], rate[3] }
  end
  return part
end

local function raise(part, rise)
  if part.prepaid > 0 then holdPrepaid(rise) end
  load(firstOfEach(part.caps), {})
  holdInCaps(part.caps, rise)
end

-- Replaces what prepaid credits hold of a call by what they pay for it.
local function endPrepaid(held, share, admittedAt)
  if held == 0 and share == 0 then return end
  holdPrepaid(-held)
  chargePrepaid(share, admittedAt)
end

-- Replaces the hold by the charge.
local function chargeCaps(part, held, amount)
  load(firstOfEach(part.caps), {})
  for _, cap in ipairs(part.caps) do chargeCap(cap[1], cap[2], cap[3], held, amount) end
end

-- Gives back what was taken of buckets and not used. What is not named there counts by how the lease ends.
local function endTakes(part, uses, ending)
  if #part.takes == 0 then return end
  load({}, firstOfEach(part.takes))
  local actuals = {}
  for _, use in ipairs(uses) do
    if actuals[use[1]] == nil then actuals[use[1]] = use[2] end
  end
  for _, take in ipairs(part.takes) do
    local id, kind, taken = unpack(take)
    -- At an expiry it is not known whether the request has reached an upstream, so it counts.
    local isFree = ending == 'release' or ending == 'expiry' and kind == tokens
    endTake(id, kind, taken, actuals[id] or (isFree and 0 or taken))
  end
  part.takes, part.uses = {}, {}
end

-- The buckets must be there for as long as leases that have taken something of them.
local function prolong(part)
  if #part.takes == 0 then return end
  local ttl = call('PTTL', ratesKey)
  if ttl >= 0 and ttl < longestLeaseMs then write('PEXPIRE', ratesKey, longestLeaseMs + 60000) end
end

-- Answers what is wrong with a top-up, if anything is. Then nothing is added.
local function topUp(amount, expiresAt)
  local sum = amount
  for _, lot in ipairs(getPrepaid().lots) do sum = sum + lot.left end
  if sum > maxInteger then return ${code.tooLarge} end
  if not pay(amount, expiresAt) then return ${code.tooManyLots} end
end

local function deduct(amount)
  chargePrepaid(amount, now)
end

-- The record that goes before the answer: prepaid credits, of which there are -1 lots where the account has never had any;
-- what is stored of the caps and rates that are named; and of a lease what it has of them, or what they have paid for it.
local function answerLimits(capIds, rateIds, part, paid)
  load(capIds, rateIds)
  getPrepaid()
  local lotCount = (packedPrepaid or isPrepaidChanged) and #prepaid.lots or -1
  local numbers = { ${code.limits}, 0, lotCount, prepaid.held, prepaid.overdrawn }
  local function add(...)
    for index = 1, select('#', ...) do numbers[#numbers + 1] = select(index, ...) end
  end
  for _, lot in ipairs(prepaid.lots) do add(lot.expiresAt, lot.left) end
  local leased = {}
  for _, cap in ipairs(part and part.caps or {}) do leased[cap[1]] = cap end
  add(part and 1 or 0, part and part.prepaidAt or never, part and part.prepaid or paid or 0)
  for _, id in ipairs(capIds) do
    local cap = caps[id] or newInstance(never, never)
    local ofLease = leased[id] or { id, never, never }
    add(cap.start, cap.finish, cap.used, cap.held, ofLease[2], ofLease[3])
  end
  for _, id in ipairs(rateIds) do
    local bucket = buckets[id] or { level = 0, at = 0, held = 0, limit = -1, burst = 0 }
    add(bucket.level, bucket.at, bucket.held, bucket.limit, bucket.burst)
  end
  numbers[2] = #numbers - 2
  return pack((isText and '' or '<') .. string.rep(isText and '%.0f,' or 'd', #numbers), unpack(numbers))
end

return {
  drop = drop, keep = keep, lapse = lapse, balanceAt = balanceAt, funds = funds, open = open, denies = denies,
  canHold = canHold, hold = hold, raise = raise, endPrepaid = endPrepaid, chargeCaps = chargeCaps, endTakes = endTakes,
  prolong = prolong, topUp = topUp, deduct = deduct, answer = answerLimits, idsOf = firstOfEach,
}
end

local function useLimits()
  limits = limits or makeLimits()
  return limits
end
`;
