/** Ids of top-ups that are unique in a ledger of several databases. */
export const sqliteVersion10 = `
  -- To which accounts, by a digest, the ids of top-ups and deductions belong.
  CREATE TABLE infergate_top_up_claim (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    -- The latest time that it was given to the account.
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_top_up_claim_at ON infergate_top_up_claim (at);
  `;
