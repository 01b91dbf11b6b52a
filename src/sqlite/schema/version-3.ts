/** What the host says of accounts, and keys without a plan. */
export const sqliteVersion3 = `
  -- What the host says of accounts; infergate_account has their credits.
  CREATE TABLE infergate_account_record (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL,
    anchor INTEGER,
    status TEXT,
    message TEXT,
    -- A JSON object; NULL where there is none.
    metadata TEXT
  ) STRICT, WITHOUT ROWID;

  -- Keys of an account that is in the table above need no plan of their own. SQLite cannot take a NOT NULL away.
  CREATE TABLE infergate_key_new (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    account TEXT NOT NULL,
    plan TEXT,
    name TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    models TEXT,
    anchor INTEGER
  ) STRICT, WITHOUT ROWID;
  INSERT INTO infergate_key_new SELECT * FROM infergate_key;
  DROP TABLE infergate_key;
  ALTER TABLE infergate_key_new RENAME TO infergate_key;
  CREATE INDEX infergate_key_account ON infergate_key (account, created_at);
  `;
