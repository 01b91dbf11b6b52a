import { doubles } from "./doubles.js";

/**
 * The newest instance of each window of an account, in one string. Packed it takes half the room of a hash, and one
 * command writes it together with its time to live.
 */
export const account = `
-- An account outlives its windows by a day: should the clock have gone ahead, putting it right must not refill.
local graceMs = dayMs
local maxLeaseMs = 900000

-- Earlier than any window began.
local never = -maxInteger

local function newInstance(start, finish)
  return { start = start, finish = finish, used = 0, held = 0, bonus = 0 }
end

local account
local plainLength = 19 * 8
local packedAccount = call('GET', accountKey)
if packedAccount then
  local sessionStart, sessionFinish, sessionUsed, sessionHeld, sessionBonus,
    weekStart, weekFinish, weekUsed, weekHeld, weekBonus,
    monthStart, monthFinish, monthUsed, monthHeld, monthBonus,
    nextExpiry, forgottenUntil, journalMs, journalSequence = struct.unpack(${doubles(19)}, packedAccount)
  account = {
    session = { start = sessionStart, finish = sessionFinish, used = sessionUsed, held = sessionHeld, bonus = sessionBonus },
    week = { start = weekStart, finish = weekFinish, used = weekUsed, held = weekHeld, bonus = weekBonus },
    month = { start = monthStart, finish = monthFinish, used = monthUsed, held = monthHeld, bonus = monthBonus },
    -- No lease ends earlier. The one that was to end then may be gone.
    nextExpiry = nextExpiry,
    -- Expired holds whose leases ended later are still remembered.
    forgottenUntil = forgottenUntil,
    journalMs = journalMs,
    journalSequence = journalSequence,
    -- When it was last forgotten. Of most accounts it is never.
    wipedAt = #packedAccount > plainLength and struct.unpack('<d', packedAccount, plainLength + 1) or never,
  }
else
  account = {
    session = newInstance(never, never), week = newInstance(never, never), month = newInstance(never, never),
    nextExpiry = 0, forgottenUntil = 0, journalMs = 0, journalSequence = 0, wipedAt = never,
  }
end

-- Its holds must not go before the account that counts them: they need more time when it has a later end than before, and
-- those that are open also when their keys are new.
local function saveAccount(isExtended, isFirst)
  local session, week, month = account.session, account.week, account.month
  local packed = struct.pack(
    ${doubles(19)},
    session.start, session.finish, session.used, session.held, session.bonus,
    week.start, week.finish, week.used, week.held, week.bonus,
    month.start, month.finish, month.used, month.held, month.bonus,
    account.nextExpiry, account.forgottenUntil, account.journalMs, account.journalSequence
  )
  if account.wipedAt > never then packed = packed .. struct.pack('<d', account.wipedAt) end
  local last = math.max(session.finish, week.finish, month.finish, now + maxLeaseMs)
  local ttl = last - now + graceMs
  call('SET', accountKey, packed, 'PX', ttl)
  if isExtended or isFirst then
    call('PEXPIRE', holdsKey, ttl)
    call('PEXPIRE', leasesKey, ttl)
  end
  if isExtended then call('PEXPIRE', expiredKey, ttl) end
end
`;
