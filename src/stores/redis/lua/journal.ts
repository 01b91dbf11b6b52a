import { doubles } from "./prelude.js";

/**
 * The account's journal: a stream whose ids begin with the time of the entry. Ids must ascend, so the account remembers
 * the last one. Numbers are packed, for they cost more than all else about an entry: when, how much, and the starts of the
 * instances, 0 where it is not about that window; and what prepaid credits paid of it, unless that is nothing.
 */
export const journal = `
local journalEntries, journalRetentionMs = arguments[1], arguments[2]

-- The instances are those of an admission, or the one that the entry is about.
local function journal(id, kind, amount, instances, tags, prepaid)
  if journalEntries == 0 then return end
  local ms, sequence = account.journalMs, account.journalSequence
  if ms == 0 then
    local last = call('XREVRANGE', journalKey, '+', '-', 'COUNT', 1)[1]
    if last then
      ms, sequence = string.match(last[1], '^(%d+)-(%d+)$')
      ms, sequence = tonumber(ms), tonumber(sequence)
    end
  end
  local isFirstOfDay = math.floor(now / dayMs) ~= math.floor(ms / dayMs)
  if now > ms then
    ms, sequence = now, 0
  else
    sequence = sequence + 1
  end
  account.journalMs, account.journalSequence = ms, sequence

  local session, week, month = instances.session, instances.week, instances.month
  local packed = struct.pack(
    ${doubles(5)}, now, amount, session and session.start or 0, week and week.start or 0, month and month.start or 0
  )
  if prepaid and prepaid ~= 0 then packed = packed .. struct.pack('<d', prepaid) end
  write(
    'XADD', journalKey, 'MAXLEN', '~', journalEntries, string.format('%.0f-%.0f', ms, sequence),
    'id', id, 'kind', kind, 'numbers', packed, 'tags', tags or ''
  )
  -- Once a day is often enough, for entries are also bounded in number. Redis 6.0 cannot trim by time.
  if isFirstOfDay then
    redis.pcall('XTRIM', journalKey, 'MINID', '~', string.format('%.0f', now - journalRetentionMs))
    write('PEXPIRE', journalKey, journalRetentionMs + dayMs)
  end
end
`;

/** A page of the journal, the newest entry first. */
export const history = `
local newest, oldest, count = unpack(arguments, 3)

local entries = call('XREVRANGE', journalKey, newest, oldest, 'COUNT', count)
for index, entry in ipairs(entries) do
  local sequence, fields = entry[1], entry[2]
  local at, amount, session, week, month = struct.unpack(${doubles(5)}, fields[6])
  local id, kind, tags = fields[2], fields[4], fields[8]
  local prepaid = #fields[6] > 40 and string.format('%.0f', (struct.unpack('<d', fields[6], 41))) or nil
  entries[index] = {
    sequence, id, kind, string.format('%.0f', at), string.format('%.0f', amount),
    string.format('%.0f', session), string.format('%.0f', week), string.format('%.0f', month), tags, prepaid,
  }
end
return entries
`;

/**
 * What a statement needs to know beside the journal, all of one moment: now, the journal's newest and oldest place and how
 * many entries it has, and the prepaid credits. Numbers go as text, which is exact.
 */
export const statement = `
local function placeOf(entries)
  return entries[1] and entries[1][1] or ''
end

local function digits(number)
  return string.format('%.0f', number)
end

local reply = {
  digits(now),
  placeOf(call('XREVRANGE', journalKey, '+', '-', 'COUNT', 1)),
  placeOf(call('XRANGE', journalKey, '-', '+', 'COUNT', 1)),
  digits(call('XLEN', journalKey)),
}
local packed = call('GET', prepaidKey)
if packed then
  for _, number in ipairs({ struct.unpack('<' .. string.rep('d', #packed / 8), packed) }) do
    reply[#reply + 1] = digits(number)
  end
  -- struct.unpack also answers where it has stopped.
  reply[#reply] = nil
end
return reply
`;
