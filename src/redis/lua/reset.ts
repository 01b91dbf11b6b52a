/** Sets the use of windows back to zero. */
export const reset = `
local id, count = nextText(), nextNumber()
for _ = 1, count do
  local name = nextText()
  local instance = account[name]
  if instance.used > 0 then
    journal(account, now, id, 'reset', -instance.used, { [name] = instance })
    instance.used = 0
    account.isChanged = true
  end
end
closeEmptySession(account)
return { 'done' }
`;
