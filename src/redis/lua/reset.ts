/** Sets the use of the open windows that are named back to zero. */
export const reset = `
local count = nextNumber()
for _ = 1, count do
  local name, id = nextText(), nextText()
  local instance = account[name]
  if instance.used > 0 and now < instance.finish then
    journal(account, now, id, 'reset', -instance.used, { [name] = instance })
    instance.used = 0
    account.isChanged = true
  end
end
closeEmptySession(account)
return { 'done' }
`;
