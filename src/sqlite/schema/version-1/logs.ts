/** The log of requests with what is counted of it, and the audit of what the host's code changes by the management API. */
export const sqliteLogTables = `
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
