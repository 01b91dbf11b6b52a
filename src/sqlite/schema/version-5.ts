/** Caps and rates of keys, and rates of accounts. */
export const sqliteVersion5 = `
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
  `;
