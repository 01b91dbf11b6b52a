import { replyCodes as code } from "../batch/reply-codes.js";

/**
 * Deletes an account, its holds and its journal. Results of ended ids stay until their time is up. The moment of
 * forgetting stays for a day at least: a settlement of an earlier lease must not bring the account back.
 */
export const forget = `
local function forget()
  write('DEL', holdsKey, leasesKey, expiredKey, journalKey, prepaidKey, capsKey, ratesKey)
  packedPrepaid = false
  if limits then limits.drop() end
  account = {
    session = newInstance(never, never), week = newInstance(never, never), month = newInstance(never, never),
    nextExpiry = 0, forgottenUntil = 0, journalMs = 0, journalSequence = 0, wipedAt = math.max(account.wipedAt, now),
  }
  keepAccount(false)
  return answerAlone(${code.done})
end
`;
