/** Prepaid credits, caps and rates. */
export const sqliteVersion6 = `
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
  `;
