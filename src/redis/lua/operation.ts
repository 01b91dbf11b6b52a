/** Puts the steps of an operation between what each of them begins and ends with. */
export const operation = (steps: string) => `
local now = readClock()
local account = loadAccount()
if endExpiredHolds(account, now) then return { 'again' } end

local function operate()
${steps}
end

local reply = operate()
if account.isChanged then saveAccount(account, now) end
return reply
`;
