/** What a {@link LedgerStorage} keeps in PostgreSQL. Texts are opaque, and counters are bigints: no rule stands in them. */
export const storageTables = [
  /* sql */ `
-- No index but the key, and room on each page: every update is a HOT update.
create table infergate.kept_account (
  id text primary key,
  version text not null,
  -- The version of the commit that put the core.
  stamp text not null,
  core text not null,
  counters bigint[] not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)`,
  /* sql */ `
create table infergate.kept_record (
  account text not null,
  name text not null,
  stamp text not null,
  content text not null,
  counters bigint[] not null,
  primary key (account, name)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02)`,
  /* sql */ `
create table infergate.kept_hold (
  name text primary key,
  account text not null,
  stamp text not null,
  content text not null,
  -- Null: it has expired, and not ended.
  due bigint
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)`,
  /* sql */ `create index kept_hold_due on infergate.kept_hold (account, due) where due is not null`,
  /* sql */ `
create table infergate.kept_entry (
  account text not null,
  at bigint not null,
  sequence bigint generated always as identity,
  -- Null: nobody asks for it again.
  key text,
  kind text not null,
  id text not null,
  amount bigint not null,
  prepaid bigint not null,
  starts text not null,
  tags text,
  expires_at bigint,
  receipt text,
  primary key (account, at, sequence)
)`,
  /* sql */ `create unique index kept_entry_key on infergate.kept_entry (key) where key is not null`,
  /* sql */ `create table infergate.kept_forgotten (account text primary key, at bigint not null)`,
];
