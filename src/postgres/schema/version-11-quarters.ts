/**
 * Sums of usage over all accounts by the quarter of an hour, since every time zone begins its hours and days with one. They
 * have all that is written from this version on, and go with the journal. And what calls cost the operator.
 */
export const quarterSums = /* sql */ `
create table infergate.usage_quarter (
  -- Quarters of an hour since 1970-01-01.
  quarter int not null,
  -- Which process of PostgreSQL adds to it: no two wait for each other. 0: of quarters that are over.
  writer int not null,
  -- Of all that follows: an index could not hold the names.
  digest bytea not null,
  model text,
  plan text,
  target text,
  prepaid boolean not null,
  -- The host's tags, by their names in the journal. Null: there were more sets of them than are kept.
  tags jsonb,
  requests bigint not null,
  micro bigint not null,
  input bigint not null,
  cached_input bigint not null,
  cache_write bigint not null,
  output bigint not null,
  reasoning bigint not null,
  cost bigint not null,
  costed bigint not null,
  images bigint not null,
  audio_ms bigint not null,
  characters bigint not null,
  searches bigint not null,
  input_image bigint not null,
  input_audio bigint not null,
  cached_input_image bigint not null,
  cached_input_audio bigint not null,
  output_image bigint not null,
  output_audio bigint not null,
  primary key (quarter, writer, digest)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
-- Those that are to be merged once they are over.
create index usage_quarter_open on infergate.usage_quarter (quarter) where writer <> 0;
-- Those whose tags are in the accounts' sums alone.
create index usage_quarter_untagged on infergate.usage_quarter (quarter) where tags is null;

-- The first quarter that has all that was used in it. No operation is under way meanwhile: the accounts are locked.
create table infergate.usage_quarter_since (
  only_row boolean primary key default true check (only_row),
  quarter int not null
);
insert into infergate.usage_quarter_since (quarter)
  select case when exists (select from infergate.entry) then infergate.clock_ms() / 900000 + 1 else -2000000000 end;

-- Sums by plan and by target: what was summed up before has neither. What the operator pays for calls, and what was charged for
-- those of which that is known. And what is counted beside tokens.
alter table infergate.usage_sum add column plan text, add column target text,
  add column cost bigint not null default 0, add column costed bigint not null default 0,
  add column images bigint not null default 0, add column audio_ms bigint not null default 0,
  add column characters bigint not null default 0, add column searches bigint not null default 0,
  add column input_image bigint not null default 0, add column input_audio bigint not null default 0,
  add column cached_input_image bigint not null default 0, add column cached_input_audio bigint not null default 0,
  add column output_image bigint not null default 0, add column output_audio bigint not null default 0;

-- Busy days are sliced anew: by plan, by target and by quarters.
truncate infergate.usage_slice;
alter table infergate.usage_slice
  add column plan text, add column target text, add column cost bigint not null default 0,
  add column costed bigint not null default 0,
  add column images bigint not null default 0, add column audio_ms bigint not null default 0,
  add column characters bigint not null default 0, add column searches bigint not null default 0,
  add column input_image bigint not null default 0, add column input_audio bigint not null default 0,
  add column cached_input_image bigint not null default 0, add column cached_input_audio bigint not null default 0,
  add column output_image bigint not null default 0, add column output_audio bigint not null default 0;
`;

/** First: what lists busy days locks this row, and then reads the sums. */
export const slicesAnew = /* sql */ `
update infergate.usage_listed set day = -100000000;
`;
