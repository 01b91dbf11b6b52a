/** Keys, plans, accounts, budgets and models, as the host keeps them; infergate_account has the credits of accounts. */
export const sqliteRecordTables = `
  CREATE TABLE infergate_record (
    -- key, plan, account_record, budget or model.
    kind TEXT NOT NULL,
    -- Of a budget: its account, a line feed, the name of the tag, =, and its value.
    id TEXT NOT NULL,
    -- The account of a key or a budget; else empty.
    owner TEXT NOT NULL,
    -- The hash of a key.
    alias TEXT,
    -- JSON, letter by letter as it was put.
    text TEXT NOT NULL,
    -- When a key was last used.
    used_at INTEGER,
    PRIMARY KEY (kind, id),
    UNIQUE (kind, alias)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_record_owner ON infergate_record (kind, owner, id);
  `;
