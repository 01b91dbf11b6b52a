/** Accounts, what they hold and have bought, and the journal. */
export const sqliteCreditTables = `
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
    month_bonus INTEGER NOT NULL,
    -- Of prepaid credits, a JSON array, the first to expire first. NULL: there have never been any.
    lots TEXT,
    prepaid_held INTEGER,
    overdrawn INTEGER
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

  -- The token bucket of each rate.
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

  -- Reservations and the journal in one: a reservation's row is a hold first, and an entry when it has ended.
  CREATE TABLE infergate_entry (
    id TEXT NOT NULL,
    -- 0: the reservation; -1: a grant; -2: a top-up or deduction; from 1 on: whatever else is filed under the id.
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
    -- What prepaid credits paid of an entry's amount. NULL: nothing.
    prepaid INTEGER,
    -- NULL where an entry does not name the window.
    session_start INTEGER,
    week_start INTEGER,
    month_start INTEGER,
    -- A JSON object; NULL where there are none.
    tags TEXT,
    -- When a top-up, or an open lease as it was renewed, expires.
    expires_at INTEGER,
    -- The rest is a reservation's only: its lease, and the cost seen.
    session_end INTEGER,
    week_end INTEGER,
    month_end INTEGER,
    reserved INTEGER,
    lease_expires_at INTEGER,
    checkpoint INTEGER,
    -- What prepaid credits have paid for it, all its charges together. NULL: nothing.
    paid INTEGER,
    -- What the session, the week and the month were limited to at its admission, a JSON array. NULL where it has ended.
    limits TEXT,
    -- A JSON object of what it holds beside the windows; and of the windows, where it has ended and names none. NULL:
    -- nothing.
    held_limits TEXT,
    PRIMARY KEY (id, part)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_entry_account ON infergate_entry (account, at, sequence);
  -- All but the ends of reservations.
  CREATE INDEX infergate_entry_rare ON infergate_entry (account, at, sequence) WHERE part <> 0;
  -- By when it was written: the next entries for the sums over all accounts.
  CREATE INDEX infergate_entry_at ON infergate_entry (at) WHERE sequence IS NOT NULL;

  -- When accounts were forgotten, for a day, and without their names.
  CREATE TABLE infergate_forgotten (
    -- Of the account's name.
    digest TEXT PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_forgotten_at ON infergate_forgotten (at);

  -- To which accounts, by a digest, the ids of top-ups and deductions belong in a ledger of several databases.
  CREATE TABLE infergate_top_up_claim (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    -- The latest time that it was given to the account.
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX infergate_top_up_claim_at ON infergate_top_up_claim (at);
  `;
