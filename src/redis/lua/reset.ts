import { replyCodes as code } from "../batch/reply-codes.js";

/** Sets the use of the open windows that are named back to zero. */
export const reset = `
local function reset(operation)
  local isChanged = false
  for _, named in ipairs(operation[2]) do
    local name, id = unpack(named)
    local instance = account[name]
    if instance.used > 0 and now < instance.finish then
      journal(id, 'reset', -instance.used, { [name] = instance })
      instance.used = 0
      isChanged = true
    end
  end
  closeEmptySession()
  if isChanged then keepAccount(false) end
  return answerAlone(${code.done})
end
`;
