/**
 * Deletes an account, its holds and its journal. What was answered to ids that have ended stays until its time is up; and when
 * it was forgotten, for a day at least: a settlement of a lease from before must not bring it back.
 */
export const forget = `
call('DEL', holdsKey, leasesKey, expiredKey, journalKey)
account = {
  session = newInstance(never, never), week = newInstance(never, never), month = newInstance(never, never),
  nextExpiry = 0, forgottenUntil = 0, journalMs = 0, journalSequence = 0, wipedAt = math.max(account.wipedAt, now),
}
saveAccount(false)
return { 'done' }
`;
