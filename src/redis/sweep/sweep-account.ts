/** Ends the expired leases of an account. Answers how many, and when the next one ends that has reported a cost, if any. */
export const sweepAccount = `
local function nextEnd()
  local most = 100
  local open = call('ZRANGE', leasesKey, 0, most - 1, 'WITHSCORES')
  local ids = {}
  for index = 1, #open, 2 do ids[#ids + 1] = open[index] end
  if #ids == 0 then return '' end
  for index, packed in ipairs(call('HMGET', holdsKey, unpack(ids))) do
    local lease = readLease(packed)
    if lease and lease.checkpoint > 0 then return open[2 * index] end
  end
  -- Of what comes later nothing is known.
  return #ids == most and open[2 * most] or ''
end

loadAccount()
local before = budget
local isCut = expire()
if budget < before and packedPrepaid and not isCut then useLimits().lapse() end
writeAccount()
return { before - budget, nextEnd() }
`;
