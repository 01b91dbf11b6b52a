/** Statements of the version before name the columns that they write, so they leave these alone. To be used is no change that
 * anybody has to hear of: the trigger names every other column. */
export const postgresVersion5 = /* sql */ `
alter table infergate.api_key
  -- null: it is enabled.
  add column enabled boolean,
  add column metadata jsonb,
  add column last_used_at bigint;

drop trigger notify_key on infergate.api_key;
create trigger notify_key after insert or delete or update of
  id, hash, account, plan, hint, name, created_at, expires_at, revoked_at, models, anchor, enabled, metadata
  on infergate.api_key
  for each row execute function infergate.notify_key();
`;
