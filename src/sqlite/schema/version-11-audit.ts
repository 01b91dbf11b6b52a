/** What the host's code has changed by the management API. */
export const sqliteVersion11Audit = `
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
    entry TEXT NOT NULL
  );
  CREATE INDEX infergate_audit_account ON infergate_audit (account, place) WHERE account IS NOT NULL;
  CREATE INDEX infergate_audit_moved ON infergate_audit (moved_to, place) WHERE moved_to IS NOT NULL;
  CREATE INDEX infergate_audit_key ON infergate_audit (key, place) WHERE key IS NOT NULL;
  CREATE INDEX infergate_audit_action ON infergate_audit (action, place);
  CREATE INDEX infergate_audit_author ON infergate_audit (author, place) WHERE author IS NOT NULL;
  `;
