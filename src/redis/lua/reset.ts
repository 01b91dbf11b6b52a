/** Sets the use of the open windows that are named back to zero. */
export const reset = `
-- Each window's name is followed by the id of its entry.
for index = 4, #ARGV - 1, 2 do
  local name, id = ARGV[index], ARGV[index + 1]
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
