/** Keys, plans and the ledger. */
export const sqliteVersion1 = `
  CREATE TABLE infergate_key (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    account TEXT NOT NULL,
    plan TEXT NOT NULL,
    name TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    models TEXT,
    anchor INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_key_account ON infergate_key (account, created_at);

  CREATE TABLE infergate_plan (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The newest instance of each window, NULL where none is known.
  CREATE TABLE infergate_account (
    id TEXT PRIMARY KEY,
    -- Of the journal's newest entry.
    sequence INTEGER NOT NULL,
    -- No hold expires earlier.
    next_expiry INTEGER,
    session_start INTEGER,
    session_end INTEGER,
    session_used INTEGER NOT NULL,
    session_held INTEGER NOT NULL,
    session_bonus INTEGER NOT NULL,
    week_start INTEGER,
    week_end INTEGER,
    week_used INTEGER NOT NULL,
    week_held INTEGER NOT NULL,
    week_bonus INTEGER NOT NULL,
    month_start INTEGER,
    month_end INTEGER,
    month_used INTEGER NOT NULL,
    month_held INTEGER NOT NULL,
    month_bonus INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Reservations and the journal in one: a reservation's row is a hold first, and an entry when it has ended.
  CREATE TABLE infergate_entry (
    id TEXT NOT NULL,
    -- 0: the reservation; -1: a grant; from 1 on: whatever else is filed under the id.
    part INTEGER NOT NULL,
    account TEXT NOT NULL,
    -- An entry's, or 'hold', or 'expired'.
    kind TEXT NOT NULL,
    -- Of the entry or the expiry; NULL while it is a hold.
    at INTEGER,
    -- NULL for what is not in the journal.
    sequence INTEGER,
    -- The entry's, or what is held.
    amount INTEGER NOT NULL,
    session_start INTEGER,
    week_start INTEGER,
    month_start INTEGER,
    -- A JSON object; NULL where there are none.
    tags TEXT,
    -- The rest is a reservation's only: its lease, what it was renewed to, and the cost seen.
    session_end INTEGER,
    week_end INTEGER,
    month_end INTEGER,
    reserved INTEGER,
    lease_expires_at INTEGER,
    expires_at INTEGER,
    checkpoint INTEGER,
    PRIMARY KEY (id, part)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_entry_account ON infergate_entry (account, at, sequence);
  `;
