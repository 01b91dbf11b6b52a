/** Prepaid credits, caps and rates. What they change of earlier tables is null wherever there are none, and takes no room. */
export const postgresVersion7 = /* sql */ `
-- Lots that have something left, the first to end first. One that never expires ends at 9007199254740991.
create type infergate.prepaid as (
  expiries bigint[],
  amounts bigint[],
  held bigint,
  overdrawn bigint
);

-- In the row that every operation reads, locks and writes anyway. Null: none. Altered first, as operations lock it first.
alter table infergate.account add column prepaid infergate.prepaid;

-- What it holds beside the windows, or in their place: prepaidAt, caps, takes, and the uses that its renewals reported.
alter table infergate.hold add column part jsonb;

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

-- To recognise repetitions. Not in the journal: an index for them would be built while no charge can be written.
create table infergate.top_up (
  id text primary key,
  account text not null,
  amount bigint not null,
  expires_at bigint not null,
  at bigint not null
);

create index top_up_account on infergate.top_up (account);
create index top_up_at on infergate.top_up (at);
`;
