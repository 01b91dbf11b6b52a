/** Tags of keys. */
export const postgresVersion11 = /* sql */ `
-- Processes of the release before name the columns that they write, so they leave it alone. Null: there are none.
alter table infergate.api_key add column tags jsonb;
`;
