/** Sets the use of the open windows that are named back to zero. */
export const reset = `
local isChanged = false
for _, named in ipairs(arguments[3]) do
  local name, id = unpack(named)
  local instance = account[name]
  if instance.used > 0 and now < instance.finish then
    journal(id, 'reset', -instance.used, { [name] = instance })
    instance.used = 0
    isChanged = true
  end
end
local session = account.session
if session.used == 0 and session.held == 0 then account.session = newInstance(never, never) end
if isChanged then saveAccount(false) end
return { 'done' }
`;
