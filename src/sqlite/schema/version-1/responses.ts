/** Responses that later requests refer to. */
export const sqliteResponseTables = `
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
