/** An account is one row that every operation on it locks; holds and journal hang on it. Times are epoch milliseconds. */
export const ledgerTables = /* sql */ `
create type infergate.instance as (
  starts_at bigint,
  ends_at bigint,
  used bigint,
  held bigint,
  bonus bigint
);

-- The newest instance of each window. No index but the key, and room on each page: every update is a HOT update.
create table infergate.account (
  id text primary key,
  session infergate.instance not null,
  week infergate.instance not null,
  month infergate.instance not null,
  -- No open hold ends earlier. The one that was to end then may be gone.
  next_expiry bigint not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- What is reserved: open, or expired and not settled. Arrays are in the order session, week, month.
create table infergate.hold (
  id text primary key,
  account text not null,
  reserved bigint not null,
  held bigint not null,
  checkpoint bigint not null default 0,
  first_expires_at bigint not null,
  expires_at bigint not null,
  expired boolean not null default false,
  starts bigint[] not null,
  ends bigint[] not null
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);

create index hold_open on infergate.hold (account, expires_at) where not expired;
create index hold_expired on infergate.hold (expires_at) where expired;

-- The journal. An entry that ends a reservation keeps what is needed to answer its repetitions: reserved to ends.
create table infergate.entry (
  account text not null,
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
  primary key (account, at, sequence)
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
`;

/**
 * When accounts were forgotten, for a day, and without their names: a settlement of a lease from before must not bring them
 * back.
 */
export const forgottenTable = /* sql */ `
create table infergate.forgotten (
  -- Of the account's name.
  digest bytea primary key,
  at bigint not null
);
`;
