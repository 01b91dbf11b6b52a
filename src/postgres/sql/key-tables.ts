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
