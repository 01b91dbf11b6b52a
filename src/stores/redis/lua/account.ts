import { doubles } from "./prelude.js";
import { replyCodes as code } from "./replies.js";

/**
 * The newest instance of each window of an account, in one string. Packed it takes half the room of a hash, and one
 * command writes it together with its time to live.
 *
 * An account is loaded once, kept by its operations one after the other, and written once. State that only some
 * operations need is a part of its own with the same functions, which loads it at first use.
 */
export const account = `
-- Earlier than any window began.
local never = -maxInteger

local function newInstance(start, finish)
  return { start = start, finish = finish, used = 0, held = 0, bonus = 0 }
end

local account
-- The account as it is stored, or will be: what an operation has not kept is not in it.
local packedAccount
local mustWrite, mustExtend, hasHeld
-- As it is stored; most accounts have none. One that has had some keeps an empty one.
local packedPrepaid
local emptyPrepaid = string.rep('\\0', 16)
-- What else it has beside its windows, once something of it was needed.
local limits

-- Takes back what was not kept.
local function restoreAccount()
  local plainLength = 19 * 8
  if limits then limits.drop() end
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
      -- The id of an open lease that may need prepaid credits that have expired, if one was found.
      neededBy = #packedAccount > plainLength + 8 and string.sub(packedAccount, plainLength + 9) or nil,
    }
  else
    account = {
      session = newInstance(never, never), week = newInstance(never, never), month = newInstance(never, never),
      nextExpiry = 0, forgottenUntil = 0, journalMs = 0, journalSequence = 0, wipedAt = never,
    }
  end
end

local function loadAccount()
  mustWrite, mustExtend, hasHeld = false, false, false
  packedAccount, packedPrepaid = unpack(call('MGET', accountKey, prepaidKey))
  -- A key of another type counts as none there, and is refused here.
  if not packedAccount then call('GET', accountKey) end
  restoreAccount()
end

-- Keeps the account for writeAccount. Its holds must not go before the account that counts them: they need more time when
-- it has a later end than before, and those that are open also when their keys are new.
local function keepAccount(isExtended, isHolding)
  local session, week, month = account.session, account.week, account.month
  packedAccount = struct.pack(
    ${doubles(19)},
    session.start, session.finish, session.used, session.held, session.bonus,
    week.start, week.finish, week.used, week.held, week.bonus,
    month.start, month.finish, month.used, month.held, month.bonus,
    account.nextExpiry, account.forgottenUntil, account.journalMs, account.journalSequence
  )
  local neededBy = account.neededBy
  if account.wipedAt > never or neededBy then
    packedAccount = packedAccount .. struct.pack('<d', account.wipedAt) .. (neededBy or '')
  end
  mustWrite, mustExtend, hasHeld = true, mustExtend or isExtended, hasHeld or isHolding
end

local function writeAccount()
  if not mustWrite then return end
  -- An account outlives its windows by a day: should the clock have gone ahead, putting it right must not refill.
  local graceMs = dayMs
  local maxLeaseMs = 900000
  -- What calls had cost that no process was there to charge reaches the journal this much later still.
  local unsweptMs = 30 * dayMs
  local last = math.max(account.session.finish, account.week.finish, account.month.finish, now + maxLeaseMs)
  local ttl = last - now + graceMs
  write('SET', accountKey, packedAccount, 'PX', ttl)
  if mustExtend or hasHeld and call('PTTL', leasesKey) == -1 then
    -- Prepaid credits do not end, nor do some caps. What leases hold of them must be known until it is given back.
    local isEndless = packedPrepaid and packedPrepaid ~= emptyPrepaid or call('PTTL', capsKey) == -1
    for _, key in ipairs({ holdsKey, leasesKey, expiredKey }) do
      if isEndless then write('PERSIST', key) else write('PEXPIRE', key, ttl + unsweptMs) end
    end
  end
  mustWrite = false
end
`;

/** Which instances are open now. */
export const windows = `
local function calendarInstance(stored, bound1, bound2, bound3, bound4)
  if not (now >= bound1 and now < bound4) then return nil end
  local start = now < bound2 and bound1 or now < bound3 and bound2 or bound3
  local finish = now < bound2 and bound2 or now < bound3 and bound3 or bound4
  -- It keeps its announced end: an anchor that moves, or a clock that steps back, must not refill.
  if now < stored.finish then return stored end
  -- After the anchor has moved, an interval may have begun no later: its start would not tell it from the stored one.
  return newInstance(start > stored.start and start or stored.finish, finish)
end

-- An ended session is passed over, not cleared: it must be there again should the clock step back.
local function openSession()
  if now < account.session.finish then return account.session end
  return nil
end
`;

/** The newest windows of an account, as they will be when its expired holds have ended. Writes nothing. */
export const balance = `
local mostPerRead = 1000

loadAccount()
local due = now < account.nextExpiry and {} or call('ZRANGEBYSCORE', leasesKey, '-inf', now)
for first = 1, #due, mostPerRead do
  local packed, packedParts = readFields({ unpack(due, first, math.min(first + mostPerRead - 1, #due)) })
  for index = 1, #packed do
    local hold, part = unpackHold(packed[index], packedParts[index])
    if hold then
      endHold(hold, part, hold.held, hold.checkpoint)
      if part then useLimits().endTakes(part, part.uses, 'expiry') end
    end
  end
end

local capIds, rateIds = arguments[4], arguments[5]
local shown = (packedPrepaid or limits or #capIds > 0 or #rateIds > 0) and useLimits().answer(capIds, rateIds) or ''
return shown .. answer(${code.current}, account.session, account.week, account.month)
`;
