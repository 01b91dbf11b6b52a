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
