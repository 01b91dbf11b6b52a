/** What accounts have beside the members of the releases before. */
export const accountTermsOfSqliteVersion11 = `
  -- Processes of the release before write an account's record as a new row. This is apart, so that it stays.
  CREATE TABLE infergate_account_terms (
    id TEXT PRIMARY KEY,
    -- A JSON array; NULL where there is none.
    models TEXT,
    -- NULL where there is none.
    price_factor REAL
  ) STRICT, WITHOUT ROWID;
  -- What replaces a row fires no such trigger.
  CREATE TRIGGER infergate_account_terms_forgotten AFTER DELETE ON infergate_account_record
  BEGIN
    DELETE FROM infergate_account_terms WHERE id = OLD.id;
  END;
  `;
