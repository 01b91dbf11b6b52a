/** Keys, plans, accounts, budgets and models, as the host keeps them. What has several members is JSON; NULL: there is none. */
export const sqliteRecordTables = `
  CREATE TABLE infergate_key (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    account TEXT NOT NULL,
    -- NULL: its account's record has one.
    plan TEXT,
    name TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    models TEXT,
    anchor INTEGER,
    -- 0: the key is disabled; NULL is enabled.
    enabled INTEGER,
    metadata TEXT,
    credits TEXT,
    rates TEXT,
    tags TEXT,
    lineage TEXT,
    last_used_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_key_account ON infergate_key (account, created_at);

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

  CREATE TABLE infergate_plan (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What the host says of accounts; infergate_account has their credits.
  CREATE TABLE infergate_account_record (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL,
    anchor INTEGER,
    status TEXT,
    message TEXT,
    metadata TEXT,
    rates TEXT,
    models TEXT,
    price_factor REAL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE infergate_budget (
    account TEXT NOT NULL,
    -- The name of the tag, =, and its value; no value: it is of each value that has no budget of its own.
    field TEXT NOT NULL,
    budget TEXT NOT NULL,
    PRIMARY KEY (account, field)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE infergate_model (
    id TEXT PRIMARY KEY,
    -- Letter by letter as it was put: its digest is its version.
    model TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `;
