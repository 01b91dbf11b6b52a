/** Caps and rates of keys, and rates of accounts. The trigger names every column of a key but that of the last use. */
export const postgresVersion6 = /* sql */ `
alter table infergate.api_key
  add column credits jsonb,
  add column rates jsonb,
  add column lineage text;

drop trigger notify_key on infergate.api_key;
create trigger notify_key after insert or delete or update of
  id, hash, account, plan, hint, name, created_at, expires_at, revoked_at, models, anchor, enabled, metadata,
  credits, rates, lineage
  on infergate.api_key
  for each row execute function infergate.notify_key();

alter table infergate.account_record add column rates jsonb;
`;
