import { doubles } from "./doubles.js";

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
