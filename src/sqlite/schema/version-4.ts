/** Further members of keys. */
export const sqliteVersion4 = `
  -- Processes of the release before name the columns that they write, so they leave these alone.
  -- 0: the key is disabled; NULL is enabled.
  ALTER TABLE infergate_key ADD COLUMN enabled INTEGER;
  -- A JSON object; NULL where there is none.
  ALTER TABLE infergate_key ADD COLUMN metadata TEXT;
  ALTER TABLE infergate_key ADD COLUMN last_used_at INTEGER;
  `;
