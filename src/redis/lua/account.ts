/**
 * The newest instance of each window of an account, in one string. Packed it takes half the room of a hash, and one
 * command writes it together with its time to live.
 *
 * Numbers are packed as integers: Lua's tostring would lose their digits from the fifteenth on.
 */
export const account = `
-- An account outlives its windows by a day: should the clock have gone ahead, putting it right must not refill.
local graceMs = dayMs
local maxLeaseMs = 900000

local function newInstance(start, finish)
  return { start = start, finish = finish, used = 0, held = 0, bonus = 0 }
end

-- Over before any other began.
local function noInstance()
  return newInstance(-maxInteger, -maxInteger)
end

local function loadAccount()
  local packed = redis.call('GET', accountKey)
  if not packed then
    return {
      session = noInstance(), week = noInstance(), month = noInstance(),
      journalMs = 0, journalSequence = 0, forgottenUntil = 0,
    }
  end
  local field = { cmsgpack.unpack(packed) }
  return {
    session = { start = field[1], finish = field[2], used = field[3], held = field[4], bonus = field[5] },
    week = { start = field[6], finish = field[7], used = field[8], held = field[9], bonus = field[10] },
    month = { start = field[11], finish = field[12], used = field[13], held = field[14], bonus = field[15] },
    journalMs = field[16],
    journalSequence = field[17],
    forgottenUntil = field[18],
  }
end

local function timeToLive(account, now)
  local last = math.max(account.session.finish, account.week.finish, account.month.finish, now + maxLeaseMs)
  return last - now + graceMs
end

local function saveAccount(account, now)
  local session, week, month = account.session, account.week, account.month
  local packed = cmsgpack.pack(
    session.start, session.finish, session.used, session.held, session.bonus,
    week.start, week.finish, week.used, week.held, week.bonus,
    month.start, month.finish, month.used, month.held, month.bonus,
    account.journalMs, account.journalSequence, account.forgottenUntil
  )
  local ttl = timeToLive(account, now)
  redis.call('SET', accountKey, packed, 'PX', ttl)
  -- Its holds must not go before the account that counts them.
  if account.isExtended then
    redis.call('PEXPIRE', holdsKey, ttl)
    redis.call('PEXPIRE', leasesKey, ttl)
  end
  account.isChanged, account.isExtended = false, false
end
`;
