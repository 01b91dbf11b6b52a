/** What calls may have alike: of the host's tags, by their names in the journal, see each table. */
const names = /* sql */ `model text,
  plan text,
  target text,
  prepaid boolean not null,
  tags jsonb`;

/** What is added up. Of the cost to the operator, and of what was charged for calls of which that is known, in micro. */
const counts = /* sql */ `requests bigint not null default 0,
  micro bigint not null default 0,
  input bigint not null default 0,
  cached_input bigint not null default 0,
  cache_write bigint not null default 0,
  output bigint not null default 0,
  reasoning bigint not null default 0,
  images bigint not null default 0,
  audio_ms bigint not null default 0,
  characters bigint not null default 0,
  searches bigint not null default 0,
  input_image bigint not null default 0,
  input_audio bigint not null default 0,
  cached_input_image bigint not null default 0,
  cached_input_audio bigint not null default 0,
  output_image bigint not null default 0,
  output_audio bigint not null default 0,
  cost bigint not null default 0,
  costed bigint not null default 0`;

/**
 * Sums of the journal. Those of an account are by the day, with all by which it can be summed up, and outlive the journal. All
 * others go with it. Days are those of UTC, from 1970-01-01 on.
 */
export const usageTables = /* sql */ `
-- No index on what changes, and room on each page: nearly every update is a HOT update. It is written in the transaction of
-- the entries, whose account is locked.
create table infergate.usage_sum (
  account text not null,
  day int not null,
  -- Digests of the tags, and of all other names: an index could not hold these.
  tag_set bytea not null,
  digest bytea not null,
  key_id text,
  -- Null in tags: this sums up what had one set of tags more than are kept a day.
  ${names},
  ${counts},
  -- Whether the day has slices, and running totals, with all that the sum has. What is added to it takes that back.
  sliced boolean not null default false,
  running boolean not null default false,
  primary key (account, day, tag_set, digest)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
-- For the retention.
create index usage_sum_day on infergate.usage_sum (day);
-- The days whose tags are in the journal alone.
create index usage_sum_untagged on infergate.usage_sum (account, day) where tags is null;

-- Sums of parts of busy days that are over. The slices of a day follow each other from midnight on, without a gap.
create table infergate.usage_slice (
  account text not null,
  day int not null,
  since bigint not null,
  -- Exclusive.
  until bigint not null,
  place int not null,
  key_id text,
  -- Null in tags: the sums of the day do not have all of them.
  ${names},
  ${counts},
  primary key (account, day, since, place)
);
-- For the retention.
create index usage_slice_day on infergate.usage_slice (day);

-- Days that are to be sliced.
create table infergate.usage_busy (
  day int not null,
  account text not null,
  primary key (day, account)
);

-- Up to which day the busy ones are listed, inclusive.
create table infergate.usage_listed (
  only_row boolean primary key default true check (only_row),
  day int not null
);
insert into infergate.usage_listed (day) values (-100000000);

-- Running totals of each account's days that are over: what it had used up to each quarter of an hour. With them, a part of
-- a day is the difference of two numbers.
create table infergate.usage_running (
  account text not null,
  day int not null,
  place int not null,
  key_id text,
  -- Null in tags: the sums of the day do not have all of them.
  ${names},
  -- Of the day, from 0 on: those in which something was used. The lists that follow are as long, or null where they say
  -- nothing: all is 0, or all is costed.
  quarters smallint[] not null,
  requests int[] not null,
  micro bigint[],
  input bigint[],
  cached_input bigint[],
  cache_write bigint[],
  output bigint[],
  reasoning bigint[],
  images bigint[],
  audio_ms bigint[],
  characters bigint[],
  searches bigint[],
  input_image bigint[],
  input_audio bigint[],
  cached_input_image bigint[],
  cached_input_audio bigint[],
  output_image bigint[],
  output_audio bigint[],
  cost bigint[],
  costed bigint[],
  primary key (account, day, place)
);
-- For all accounts, and for the retention.
create index usage_running_day on infergate.usage_running (day);

-- The last account that has them, and of which day.
create table infergate.usage_running_until (
  only_row boolean primary key default true check (only_row),
  day int not null,
  account text not null
);
insert into infergate.usage_running_until (day, account) values (-100000000, '');

-- Sums over all accounts by the quarter of an hour, since every time zone begins its hours and days with one.
create table infergate.usage_quarter (
  -- Since 1970-01-01.
  quarter int not null,
  -- Which process of PostgreSQL adds to it: no two wait for each other. 0: of quarters that are over.
  writer int not null,
  -- Of all names: an index could not hold these.
  digest bytea not null,
  -- Null in tags: there were more sets of them than are kept.
  ${names},
  ${counts},
  primary key (quarter, writer, digest)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);
-- Those that are to be merged once they are over.
create index usage_quarter_open on infergate.usage_quarter (quarter) where writer <> 0;
-- Those whose tags are in the accounts' sums alone.
create index usage_quarter_untagged on infergate.usage_quarter (quarter) where tags is null;
`;
