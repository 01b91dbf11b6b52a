/** The newest instance of each cap of an account, as a field of a hash: its start, end, used and held. */
export const caps = `
local caps, changedCaps

local function unpackCap(packed)
  local start, finish, used, held = struct.unpack('<dddd', packed)
  return { start = start, finish = finish, used = used, held = held }
end

local function packCap(cap)
  return struct.pack('<dddd', cap.start, cap.finish, cap.used, cap.held)
end

-- As windows, caps outlive their end by a day: should the clock have gone ahead, putting it right must not refill.
local function isCapOver(cap)
  return cap.held == 0 and cap.finish + dayMs <= now
end

local function capLifetime(cap)
  return cap.finish >= maxInteger - 1 and forever or math.max(cap.finish - now, 0) + dayMs
end

-- The instances that are open, in the order of the limits; nil where bounds miss now.
local function openCaps(capLimits)
  local open = {}
  for index, limit in ipairs(capLimits) do
    local stored = caps[limit[1]] or newInstance(never, never)
    open[index] = calendarInstance(stored, limit[3], limit[4], limit[5], limit[6])
    if not open[index] then return nil end
  end
  return open
end

local function holdInCaps(leased, amount)
  for _, cap in ipairs(leased) do
    local id, start = cap[1], cap[2]
    local stored = caps[id]
    if stored and stored.start == start then
      stored.held = stored.held + amount
      changedCaps[id] = true
    end
  end
end

-- As addCharge does in a window.
local function chargeCap(id, start, finish, held, charge)
  local cap = caps[id] or newInstance(never, never)
  local isSame = cap.start == start
  if isSame then
    cap.held = cap.held - held
  elseif charge > 0 and isLater(cap, { start = start, finish = finish }) then
    cap = newInstance(start, finish)
    isSame = true
  end
  if not isSame then return end
  cap.used = math.min(math.max(0, cap.used + charge), maxInteger)
  caps[id] = (cap.used > 0 or cap.held > 0) and cap or false
  changedCaps[id] = true
end
`;

/**
 * The bucket of each rate of an account, as a field of a hash: its level in parts of 1/60,000 and when it was so, what open
 * leases have taken, and the limit and burst of the latest reservation.
 */
export const buckets = `
local partsPerUnit = 60000
local requests, tokens, concurrent = 1, 2, 3
local buckets, changedBuckets

local function unpackBucket(packed)
  local level, at, held, limit, burst = struct.unpack('<ddddd', packed)
  return { level = level, at = at, held = held, limit = limit, burst = burst }
end

local function packBucket(bucket)
  return struct.pack('<ddddd', bucket.level, bucket.at, bucket.held, bucket.limit, bucket.burst)
end

-- A step back by a second at the most is no step. A clock that was put back by more fills nothing, and goes on from there.
local function momentOf(bucket)
  if bucket.at > now and bucket.at - now <= 1000 then return bucket.at end
  return now
end

local function levelNow(bucket)
  local elapsed = math.max(0, momentOf(bucket) - bucket.at)
  return math.min(bucket.level + elapsed * bucket.limit, bucket.burst * partsPerUnit)
end

-- Whether it is as good as unknown: full, and no lease has taken anything of it.
local function isBucketIdle(bucket)
  return bucket.held == 0 and levelNow(bucket) >= bucket.burst * partsPerUnit
end

local function bucketLifetime(bucket)
  -- One that never fills is forgotten some day.
  local longestMs = 366 * dayMs
  local fullInMs = 0
  if bucket.level < bucket.burst * partsPerUnit then
    fullInMs = bucket.limit == 0 and longestMs or math.ceil((bucket.burst * partsPerUnit - bucket.level) / bucket.limit)
  end
  return math.min(math.max(fullInMs, longestLeaseMs), longestMs)
end

-- The buckets as they are now, in the order of the limits.
local function openBuckets(rateLimits)
  local open = {}
  for index, rate in ipairs(rateLimits) do
    local id, _, _, limit, burst = unpack(rate)
    local stored = buckets[id]
    if not stored or isBucketIdle(stored) then
      open[index] = { level = burst * partsPerUnit, at = now, held = 0, limit = limit, burst = burst }
    else
      local level = math.min(levelNow(stored), burst * partsPerUnit)
      open[index] = { level = level, at = momentOf(stored), held = stored.held, limit = limit, burst = burst }
    end
  end
  return open
end

local function isBlocked(bucket, rate)
  local _, kind, take, limit = unpack(rate)
  if kind == concurrent then return bucket.held + take > limit end
  return bucket.level < (kind == requests and take * partsPerUnit or 1)
end

local function takeFrom(bucket, rate)
  local id, kind, take = unpack(rate)
  if kind ~= concurrent then bucket.level = bucket.level - take * partsPerUnit end
  if kind ~= requests then bucket.held = bucket.held + take end
  buckets[id] = bucket
  changedBuckets[id] = true
end

local function endTake(id, kind, taken, actual)
  local bucket = buckets[id]
  -- One that is as good as unknown may have been dropped.
  if not bucket or isBucketIdle(bucket) then return end
  changedBuckets[id] = true
  if kind ~= requests then bucket.held = bucket.held - taken end
  if kind ~= concurrent then
    -- What exceeds the burst is cut wherever the level is read.
    bucket.level = levelNow(bucket) + (taken - actual) * partsPerUnit
    bucket.at = momentOf(bucket)
  end
  if isBucketIdle(bucket) then buckets[id] = false end
end
`;
