import { replyCodes as code } from "./replies.js";

/** The operations that the script knows, in the order of their codes, and which of them have a key of their own id. */
export const operationKinds = [
  { name: "reserve", hasOwnKey: true },
  { name: "settle", hasOwnKey: true },
  { name: "grant", hasOwnKey: true },
  { name: "reset", hasOwnKey: false },
  { name: "forget", hasOwnKey: false },
  { name: "topUp", hasOwnKey: true },
] as const;

/**
 * Runs operations on accounts, each of them in its order: an account is loaded once, rid of its expired holds once, and
 * written once.
 *
 * What fails, fails alone. An operation that had written nothing is undone. What another one has counted stays, as what
 * it wrote does: its repetition finds either a hold, or a receipt.
 */
export const operate = `
local transitions = { ${operationKinds.map(({ name }) => name).join(", ")} }
local hasOwnKey = { ${operationKinds.map(({ hasOwnKey }) => hasOwnKey).join(", ")} }
local replies = {}
-- By the places of the operations that failed.
local failures = {}
local failureCount, lastFailure = 0, nil
local nextKey = 1

local function takeKeys(count)
  nextKey = nextKey + count
  return unpack(KEYS, nextKey - count, nextKey - 1)
end

local function fail(place, failure)
  local message = type(failure) == 'table' and failure.err or failure
  -- The client has to see this error to look for the server that has taken this one's place.
  if string.find(message, 'READONLY', 1, true) then error(failure, 0) end
  if not failures[place] then failureCount = failureCount + 1 end
  failures[place], lastFailure = message, failure
  return answerAlone(${code.failed})
end

local function run(operation)
  local transition = transitions[operation[1]]
  -- What is due ends before any other operation.
  if transition ~= forget and expire() then return answerAlone(${code.again}) end
  -- Prepaid credits that have expired lapse before it, too.
  if packedPrepaid and transition ~= forget then useLimits().lapse() end
  hasWritten = false
  shown = nil
  local reply = transition(operation)
  if not (shown or packedPrepaid) then return reply end
  local caps, rates, part, paid = {}, {}, nil, nil
  if shown then caps, rates, part, paid = shown.caps, shown.rates, shown.part, shown.paid end
  return useLimits().answer(caps, rates, part, paid) .. reply
end

local function attempt(place, operation)
  hasWritten = false
  local isDone, reply = pcall(run, operation)
  if isDone then return reply end
  if hasWritten then
    keepAccount(true)
    if limits then pcall(limits.keep) end
  else
    restoreAccount()
  end
  return fail(place, reply)
end

for index = 4, #arguments do
  local operations = arguments[index]
  local before = #replies
  accountKey, holdsKey, leasesKey, expiredKey, journalKey, prepaidKey, capsKey, ratesKey = takeKeys(8)
  local isLoaded, loadFailure = pcall(loadAccount)
  for position, operation in ipairs(operations) do
    local place = before + position
    if hasOwnKey[operation[1]] then ownKey = takeKeys(1) end
    replies[place] = isLoaded and attempt(place, operation) or fail(place, loadFailure)
  end
  local isWritten, writeFailure = pcall(writeAccount)
  if not isWritten then
    for place = before + 1, #replies do replies[place] = fail(place, writeFailure) end
  end
end

if failureCount == #replies then error(lastFailure, 0) end
local reply = { table.concat(replies) }
for place = 1, #replies do
  if failures[place] then reply[#reply + 1] = failures[place] end
end
return reply
`;
