/**
 * What accounts have beside the members of the releases before, whose processes name the columns that they write, so they leave
 * it alone. Null: there is none.
 */
export const accountTermsOfPostgresVersion11 = /* sql */ `
alter table infergate.account_record add column models jsonb;
`;
