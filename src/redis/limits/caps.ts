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
