/** What is rare in a journal is found without its calls. */
export const sqliteVersion11 = `
  CREATE INDEX infergate_entry_rare ON infergate_entry (account, at, sequence)
    WHERE kind IN ('checkpoint', 'grant', 'topup', 'deduction', 'expiry', 'reset', 'unresolved');
  `;
