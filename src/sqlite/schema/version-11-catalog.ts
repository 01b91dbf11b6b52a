/** Budgets of accounts, and models of the catalog. */
export const catalogOfSqliteVersion11 = `
  CREATE TABLE infergate_budget (
    account TEXT NOT NULL,
    -- The name of the tag, =, and its value; no value: it is of each value that has no budget of its own.
    field TEXT NOT NULL,
    -- JSON.
    budget TEXT NOT NULL,
    PRIMARY KEY (account, field)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE infergate_model (
    id TEXT PRIMARY KEY,
    -- JSON, letter by letter as it was put: its digest is its version.
    model TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `;
