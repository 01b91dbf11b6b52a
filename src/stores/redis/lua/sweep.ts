// The accounts in which a lease has reported a cost, by the moment at which the first such lease may end: a sorted set of
// its own. No call writes to it, only renewals do.

/** What each script begins with. It is followed by what defines `now`, where that is needed. */
export const dueMembers = `
local dueKey = KEYS[1]
local call = redis.call
local arguments = cjson.decode(ARGV[1])

local function timeOf(member)
  local score = call('ZSCORE', dueKey, member)
  return score and tonumber(score)
end
`;

/** Notes that a lease of each account ends so many milliseconds from now, unless one that ends earlier is noted. */
export const noteDue = `
for index = 1, #arguments, 2 do
  local member, finish = arguments[index], now + arguments[index + 1]
  local noted = timeOf(member)
  -- A time with a fraction says that the account is being swept: how that ends depends on this time.
  if not noted or finish < noted or noted % 1 > 0 then call('ZADD', dueKey, finish, member) end
end
call('PEXPIRE', dueKey, 5184000000) -- 60 days
`;

/** Takes accounts that are due: their members, each with the time that it has meanwhile, at which it would be due again. */
export const takeDue = `
local members = call('ZRANGEBYSCORE', dueKey, '-inf', now, 'LIMIT', 0, arguments[1])
local taken = {}
for index, member in ipairs(members) do
  call('ZADD', dueKey, now + 10000.5, member)
  taken[2 * index - 1], taken[2 * index] = member, call('ZSCORE', dueKey, member)
end
return taken
`;

/** Ends that: each member with the time that it had meanwhile, and when the next lease ends that has reported a cost, if any. */
export const finishDue = `
for index = 1, #arguments, 3 do
  local member, meanwhile, finish = arguments[index], arguments[index + 1], tonumber(arguments[index + 2])
  local noted = timeOf(member)
  if noted == tonumber(meanwhile) then noted = nil end
  if finish and not (noted and noted <= finish) then
    call('ZADD', dueKey, finish, member)
  elseif not noted then
    call('ZREM', dueKey, member)
  end
end
`;

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
