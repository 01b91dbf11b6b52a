import { sqliteUsageTables } from "./version-1/usage.js";

/** Accounts, what they hold and have bought, and the journal. */
const sqliteCreditTables = `
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

/** Keys, plans, accounts, budgets and models, as the host keeps them; infergate_account has the credits of accounts. */
const sqliteRecordTables = `
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

/** Responses that later requests refer to. */
const sqliteResponseTables = `
  -- Sequences grow with the time at which they are put.
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
  `;

/** The log of requests with what is counted of it, and the audit of what the host's code changes by the management API. */
const sqliteLogTables = `
  -- The line is JSON.
  CREATE TABLE infergate_request (
    sequence INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    line_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    account TEXT,
    key_id TEXT,
    is_error INTEGER NOT NULL,
    line TEXT NOT NULL,
    texts TEXT
  ) STRICT;
  CREATE UNIQUE INDEX infergate_request_at ON infergate_request (at, line_id);
  CREATE INDEX infergate_request_id ON infergate_request (request_id, at, line_id);
  CREATE INDEX infergate_request_account ON infergate_request (account, at, line_id) WHERE account IS NOT NULL;
  CREATE INDEX infergate_request_key ON infergate_request (key_id, at, line_id) WHERE key_id IS NOT NULL;
  CREATE INDEX infergate_request_error ON infergate_request (at, line_id) WHERE is_error = 1;

  CREATE TABLE infergate_request_tag (
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    at INTEGER NOT NULL,
    line_id TEXT NOT NULL,
    PRIMARY KEY (account, name, value, at, line_id)
  ) STRICT, WITHOUT ROWID;

  -- Refusals and failures of a minute, one row for each batch. Tags are a JSON object.
  CREATE TABLE infergate_request_count (
    sequence INTEGER PRIMARY KEY,
    minute INTEGER NOT NULL,
    account TEXT,
    plan TEXT,
    model TEXT,
    target TEXT,
    key_id TEXT,
    tags TEXT,
    refusals INTEGER NOT NULL,
    failures INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX infergate_request_count_minute ON infergate_request_count (minute, sequence);
  CREATE INDEX infergate_request_count_account ON infergate_request_count (account) WHERE account IS NOT NULL;

  CREATE TABLE infergate_audit (
    -- In the order in which they were kept, without gaps but for clocks that differ.
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    place TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    account TEXT,
    -- Another account that the entry is found by.
    moved_to TEXT,
    key TEXT,
    action TEXT NOT NULL,
    author TEXT,
    -- JSON.
    entry TEXT NOT NULL
  ) STRICT;
  CREATE INDEX infergate_audit_account ON infergate_audit (account, place) WHERE account IS NOT NULL;
  CREATE INDEX infergate_audit_moved ON infergate_audit (moved_to, place) WHERE moved_to IS NOT NULL;
  CREATE INDEX infergate_audit_key ON infergate_audit (key, place) WHERE key IS NOT NULL;
  CREATE INDEX infergate_audit_action ON infergate_audit (action, place);
  CREATE INDEX infergate_audit_author ON infergate_audit (author, place) WHERE author IS NOT NULL;
  `;

export const sqliteVersion1 = [
  sqliteCreditTables,
  sqliteUsageTables,
  sqliteRecordTables,
  sqliteResponseTables,
  sqliteLogTables,
].join("");
