/** Tags of keys. */
export const sqliteVersion11 = `
  -- A JSON object; NULL where there are none. Processes of the release before name the columns that they write.
  ALTER TABLE infergate_key ADD COLUMN tags TEXT;
  `;
