/** Sets the use of the open windows that are named back to zero. */
export const reset = `
for _, named in ipairs(arguments[3]) do
  local name, id = unpack(named)
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
