import { usageMigration } from "./usage/usage-migration.js";

/**
 * What makes the tables, one release's changes after the other's: an index into this list is a version. What was
 * released is never edited.
 *
 * All texts are compared byte for byte. A moment is in epoch milliseconds, an amount in micro-credits.
 */
export const migrations: readonly string[] = [
  `
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
  `,
  `
  -- Responses that later requests refer to. Sequences grow with the time at which they are put.
  CREATE TABLE infergate_response (
    sequence INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    put_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    previous_id TEXT,
    bytes INTEGER NOT NULL,
    -- The text last: what stands before it is read without it.
    response TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX infergate_response_id ON infergate_response (account, id);
  CREATE INDEX infergate_response_account_sequence ON infergate_response (account, sequence);
  CREATE INDEX infergate_response_put_at ON infergate_response (put_at);

  CREATE TABLE infergate_response_item (
    -- Its sequence.
    response INTEGER NOT NULL,
    position INTEGER NOT NULL,
    is_output INTEGER NOT NULL,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    item TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX infergate_response_item_position ON infergate_response_item (response, position);
  CREATE INDEX infergate_response_item_id ON infergate_response_item (account, id, response, position);

  -- How many bytes of responses an account has.
  CREATE TABLE infergate_response_account (
    id TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
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
  `,
  `
  -- Processes of the release before name the columns that they write, so they leave these alone.
  -- 0: the key is disabled; NULL is enabled.
  ALTER TABLE infergate_key ADD COLUMN enabled INTEGER;
  -- A JSON object; NULL where there is none.
  ALTER TABLE infergate_key ADD COLUMN metadata TEXT;
  ALTER TABLE infergate_key ADD COLUMN last_used_at INTEGER;
  `,
  `
  -- JSON objects; NULL where there are none.
  ALTER TABLE infergate_key ADD COLUMN credits TEXT;
  ALTER TABLE infergate_key ADD COLUMN rates TEXT;
  ALTER TABLE infergate_key ADD COLUMN lineage TEXT;

  -- Processes of the release before write an account's record as a new row. Its rates are apart, so that they stay.
  CREATE TABLE infergate_account_rates (
    id TEXT PRIMARY KEY,
    -- A JSON object.
    rates TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  -- What replaces a row fires no such trigger.
  CREATE TRIGGER infergate_account_rates_forgotten AFTER DELETE ON infergate_account_record
  BEGIN
    DELETE FROM infergate_account_rates WHERE id = OLD.id;
  END;
  `,
  `
  -- What accounts have beside their windows. infergate_account gets no column: processes of the release before write
  -- its rows without naming their columns.
  CREATE TABLE infergate_prepaid (
    account TEXT PRIMARY KEY,
    -- A JSON array, the first to expire first.
    lots TEXT NOT NULL,
    held INTEGER NOT NULL,
    overdrawn INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- The newest instance of each cap.
  CREATE TABLE infergate_cap (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    used INTEGER NOT NULL,
    held INTEGER NOT NULL,
    PRIMARY KEY (account, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE infergate_bucket (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    -- At the moment after it, in parts of a request or token.
    level INTEGER NOT NULL,
    at INTEGER NOT NULL,
    held INTEGER NOT NULL,
    rate_limit INTEGER NOT NULL,
    burst INTEGER NOT NULL,
    PRIMARY KEY (account, id)
  ) STRICT, WITHOUT ROWID;

  -- A JSON object of what a reservation holds beside the windows; NULL where there is nothing. The windows of one that
  -- prepaid credits fund are in it, and NULL in their columns: no release counts it in windows then.
  ALTER TABLE infergate_entry ADD COLUMN held_limits TEXT;
  `,
  usageMigration,
];
