/** When accounts were forgotten, for a day, and without their names: a settlement of a lease from before must not bring them
 * back. */
export const postgresVersion2 = /* sql */ `
create table infergate.forgotten (
  -- Of the account's name.
  digest bytea primary key,
  at bigint not null
);
`;
