/** Puts the steps of an operation between what each of them begins and ends with. */
export const operation = (steps: string) => `
local now = readClock()
local account = loadAccount()
local areMoreDue = endExpiredHolds(account, now)

local function operate()
${steps}
end

local reply = areMoreDue and { 'again' } or operate()
if account.isExtended then keepHolds(account, now) end
if account.isChanged then saveAccount(account, now) end
return reply
`;
