/** API keys. Triggers notify of every change, whoever makes it. */
export const keyTables = /* sql */ `
create table infergate.api_key (
  id text primary key,
  hash text not null unique,
  account text not null,
  plan text not null,
  hint text not null,
  name text,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  models jsonb,
  anchor bigint
);

create index api_key_account on infergate.api_key (account, created_at, id);

create function infergate.notify_key() returns trigger
language plpgsql as $$
begin
  if tg_op <> 'INSERT' then perform pg_notify(tg_table_schema || '_key', old.hash); end if;
  -- The same text twice in a transaction is sent once.
  if tg_op <> 'DELETE' then perform pg_notify(tg_table_schema || '_key', new.hash); end if;
  return null;
end
$$;

create trigger notify_key after insert or update or delete on infergate.api_key
  for each row execute function infergate.notify_key();
`;

/**
 * Statements of the version before name the columns that they write, so they leave these alone. To be used is no change that
 * anybody has to hear of: the trigger names every other column.
 */
export const keyMembers = /* sql */ `
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

/** The trigger names every column but that of the last use. */
export const keyLimits = /* sql */ `
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
`;
