/** Accounts, what they hold and have bought, and the journal. Arrays of windows are in the order session, week, month. */
export const creditTables = /* sql */ `
-- The database's own clock in whole milliseconds, read at each call. It has no other.
create function infergate.clock_ms() returns bigint
language sql volatile as $$
  select floor(extract(epoch from clock_timestamp()) * 1000)::bigint
$$;

create type infergate.instance as (
  starts_at bigint,
  ends_at bigint,
  used bigint,
  held bigint,
  bonus bigint
);

-- Lots that have something left, the first to end first. One that never expires ends at 9007199254740991.
create type infergate.prepaid as (
  expiries bigint[],
  amounts bigint[],
  held bigint,
  overdrawn bigint
);

-- The newest instance of each window. No index but the key, and room on each page: every update is a HOT update.
create table infergate.account (
  id text primary key,
  session infergate.instance not null,
  week infergate.instance not null,
  month infergate.instance not null,
  -- No open hold ends earlier. The one that was to end then may be gone.
  next_expiry bigint not null,
  -- Null: there have never been any.
  prepaid infergate.prepaid
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- An account after an operation, and what the operation answers.
create type infergate.step as (account infergate.account, answer jsonb);

-- What is reserved: open, or expired and not settled.
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
  ends bigint[] not null,
  -- What it holds beside the windows, or in their place: prepaidAt, prepaid, caps, takes, what prepaid credits have paid, and
  -- the uses that its renewals reported. Null: nothing.
  part jsonb,
  -- Those of its admission; null in it is unlimited.
  limits bigint[] not null,
  -- What renewals have said of the call, for the journal. Null: nothing.
  tags jsonb
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
create index hold_open on infergate.hold (account, expires_at) where not expired;
create index hold_expired on infergate.hold (expires_at) where expired;
-- Open calls that found prepaid credits at their admission: they may need what has ended since.
create index hold_prepaid on infergate.hold (account, ((part->>'prepaidAt')::bigint))
  where not expired and (part->>'prepaidAt')::bigint is not null;

-- The newest instance of each cap. Its account's row is locked while it changes.
create table infergate.cap (
  account text not null,
  id text not null,
  starts_at bigint not null,
  ends_at bigint not null,
  used bigint not null,
  held bigint not null,
  primary key (account, id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
create index cap_ended on infergate.cap (ends_at);

-- The token bucket of each rate, in parts of a request or token. Its account's row is locked while it changes.
create table infergate.bucket (
  account text not null,
  id text not null,
  level bigint not null,
  at bigint not null,
  held bigint not null,
  per_minute bigint not null,
  burst bigint not null,
  -- A day or more after it is full. It changes once in a while only, so that most updates are HOT updates.
  keep_until bigint not null,
  primary key (account, id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
create index bucket_idle on infergate.bucket (keep_until);

-- The journal. An entry that ends a reservation keeps what is needed to answer its repetitions: reserved to paid.
create table infergate.entry (
  account text not null,
  at bigint not null,
  sequence bigint generated always as identity,
  id text not null,
  kind text not null,
  amount bigint not null,
  -- What prepaid credits paid of the amount. Null: all of it if the entry names no window, else nothing.
  prepaid bigint,
  starts bigint[] not null,
  tags jsonb,
  reserved bigint,
  first_expires_at bigint,
  ends bigint[],
  -- What prepaid credits have paid for the reservation. Null: what they paid of this entry.
  paid bigint,
  primary key (account, at, sequence)
);
create unique index entry_ended on infergate.entry (id) where kind in ('charge', 'release');
create unique index entry_granted on infergate.entry (id) where kind = 'grant';
-- For the retention. A B-tree would cost every settlement more than it saves.
create index entry_at on infergate.entry using brin (at) with (autosummarize = on);

-- What is rare in the journal, so that it is found without all the calls between.
create table infergate.rare_entry (
  account text not null,
  at bigint not null,
  sequence bigint not null,
  id text not null,
  kind text not null,
  amount bigint not null,
  -- When it came about: of prepaid credits that expired, their end.
  moment bigint not null,
  primary key (account, at, sequence)
);
create index rare_entry_id on infergate.rare_entry (id);

create function infergate.note_rare_entry() returns trigger
language plpgsql as $$
begin
  insert into infergate.rare_entry values (
    new.account, new.at, new.sequence, new.id, new.kind, new.amount,
    case when new.kind = 'expiry' then (new.tags->>'endedAt')::bigint else new.at end
  );
  return null;
end
$$;
create trigger note_rare_entry after insert on infergate.entry
  for each row when (new.kind not in ('charge', 'release')) execute function infergate.note_rare_entry();

create function infergate.drop_rare_entries() returns trigger
language plpgsql as $$
begin
  delete from infergate.rare_entry as rare using gone
    where gone.kind not in ('charge', 'release')
      and rare.account = gone.account and rare.at = gone.at and rare.sequence = gone.sequence;
  return null;
end
$$;
create trigger drop_rare_entries after delete on infergate.entry
  referencing old table as gone for each statement execute function infergate.drop_rare_entries();

-- The ids of top-ups and deductions, to recognise repetitions. They are kept longer than the journal may be.
create table infergate.top_up (
  id text primary key,
  account text not null,
  amount bigint not null,
  expires_at bigint not null,
  at bigint not null
);
create index top_up_account on infergate.top_up (account);
create index top_up_at on infergate.top_up (at);

-- To which accounts, by a digest, these ids belong in a ledger of several databases.
create table infergate.top_up_claim (
  id text primary key,
  account bytea not null,
  -- The latest time that it was given to the account.
  at bigint not null
);
create index top_up_claim_at on infergate.top_up_claim (at);

-- When accounts were forgotten, for a day, and without their names: a settlement of a lease from before must not bring
-- them back.
create table infergate.forgotten (
  -- Of the account's name.
  digest bytea primary key,
  at bigint not null
);

-- Up to when entries may have been dropped.
create table infergate.retention (
  only_row boolean primary key default true check (only_row),
  dropped_until bigint not null
);
insert into infergate.retention (dropped_until) values (-9007199254740991);
`;
