import { countsPerSum, sumLengthsMs, sumNames, unknownTags } from "../../ledger/usage/kept-sums.js";

/** The sums of each length. */
export const sumTables = sumLengthsMs.map((lengthMs) => ({ lengthMs, table: `kept_sum_${lengthMs}` }));

/** Quarters of an hour: of these, there are sums of all accounts as well. */
export const shortest = sumTables.at(-1) as (typeof sumTables)[number];

export const countColumns = Array.from({ length: countsPerSum }, (_, index) => `c${index + 1}`);

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
  due bigint,
  -- When it was put.
  at bigint not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)`,
  /* sql */ `create index kept_hold_due on infergate.kept_hold (account, due) where due is not null`,
  /* sql */ `create index kept_hold_expired on infergate.kept_hold (at) where due is null`,
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
  // All but what every call leaves.
  /* sql */ `
create index kept_entry_rare on infergate.kept_entry (account, at, sequence) where kind <> 'charge' and kind <> 'release'`,
  /* sql */ `create index kept_entry_keyless on infergate.kept_entry (account, id) where key is null`,
  // Entries are written in the order of time, so that this suffices to find what is of a time.
  /* sql */ `create index kept_entry_at on infergate.kept_entry using brin (at) with (pages_per_range = 16)`,
  // By a digest of the account.
  /* sql */ `create table infergate.kept_forgotten (digest bytea primary key, at bigint not null)`,
  /* sql */ `
-- What was written at this moment or later is all still here. No row: so is what was written before.
create table infergate.kept_retention (only_row boolean primary key check (only_row), kept_from bigint not null)`,
  /* sql */ `
create table infergate.kept_sum_name (
  digest text collate "C" primary key,
  ${sumNames.map((name) => `${name} text not null`).join(",\n  ")}
)`,
  /* sql */ `create index kept_sum_name_account on infergate.kept_sum_name (account)`,
  /* sql */ `create index kept_sum_name_unknown on infergate.kept_sum_name (digest) where tags = '${unknownTags}'`,
  ...[...sumTables.map(({ table }) => table), "kept_sum_all"].flatMap((table) => [
    /* sql */ `
create table infergate.${table} (
  digest text collate "C" not null,
  -- In epoch milliseconds.
  begins bigint not null,
  -- Null where nothing was counted.
  ${countColumns.map((name) => `${name} double precision`).join(", ")},
  primary key (digest, begins)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02)`,
    /* sql */ `create index ${table}_begins on infergate.${table} using brin (begins) with (pages_per_range = 16)`,
  ]),
  /* sql */ `
-- What accounts have used in the quarters of an hour before a moment is in the longer sums as well. From another moment on it is
-- in kept_sum_all, too: without accounts and keys.
create table infergate.kept_rolled (
  only_row boolean primary key check (only_row),
  since bigint not null,
  until bigint not null
)`,
  /* sql */ `insert into infergate.kept_rolled values (true, -9000000000000000, -9000000000000000)`,
];
