/** Deletes an account, its holds and its journal. What was answered to ids that have ended stays until its time is up. */
export const forget = `
call('DEL', accountKey, holdsKey, leasesKey, expiredKey, journalKey)
return { 'done' }
`;
