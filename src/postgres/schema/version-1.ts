/** The ledger, keys and plans. */
export const postgresVersion1 = /* sql */ `
create type infergate.instance as (
  starts_at bigint,
  ends_at bigint,
  used bigint,
  held bigint,
  bonus bigint
);

-- The newest instance of each window. No index but the key, and room on each page: every update is a HOT update.
create table infergate.account (
  subject text primary key,
  session infergate.instance not null,
  week infergate.instance not null,
  month infergate.instance not null,
  -- No open hold ends earlier. The one that was to end then may be gone.
  next_expiry bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- What is reserved: open, or expired and not settled. Arrays are in the order session, week, month.
create table infergate.hold (
  id text primary key,
  subject text not null,
  reserved bigint not null,
  held bigint not null,
  checkpoint bigint not null default 0,
  first_expires_at bigint not null,
  expires_at bigint not null,
  expired boolean not null default false,
  starts bigint[] not null,
  ends bigint[] not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

create index hold_open on infergate.hold (subject, expires_at) where not expired;
create index hold_expired on infergate.hold (expires_at) where expired;

-- The journal. An entry that ends a reservation keeps what is needed to answer its repetitions: reserved to ends.
create table infergate.entry (
  subject text not null,
  at bigint not null,
  sequence bigint generated always as identity,
  id text not null,
  kind text not null,
  amount bigint not null,
  starts bigint[] not null,
  tags jsonb,
  reserved bigint,
  first_expires_at bigint,
  ends bigint[],
  primary key (subject, at, sequence)
);

create unique index entry_ended on infergate.entry (id) where kind in ('charge', 'release');
create unique index entry_granted on infergate.entry (id) where kind = 'grant';
-- For the retention. A B-tree would cost every settlement more than it saves.
create index entry_at on infergate.entry using brin (at) with (autosummarize = on);

-- Up to when entries may have been dropped.
create table infergate.retention (
  only_row boolean primary key default true check (only_row),
  dropped_until bigint not null
);
insert into infergate.retention (dropped_until) values (-9007199254740991);

-- An account after an operation, and what the operation answers.
create type infergate.step as (account infergate.account, answer jsonb);

-- The database's own clock in whole milliseconds, read at each call. It has no other.
create function infergate.clock_ms() returns bigint
language sql volatile as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;

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

create table infergate.plan (
  id text primary key,
  plan jsonb not null
);

create function infergate.notify_plan() returns trigger
language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '_plan', coalesce(new.id, old.id));
  return null;
end
$$;

create trigger notify_plan after insert or update or delete on infergate.plan
  for each row execute function infergate.notify_plan();
`;
