/**
 * Running totals of each account's days that are over: what it had used up to each quarter of an hour. With them, a part of a
 * day is the difference of two numbers. They go with the journal.
 */
export const runningTotals = /* sql */ `
-- Whether its day has running totals, with all that the sum has. What is added to a sum takes that back.
alter table infergate.usage_sum add column running boolean not null default false;

create table infergate.usage_running (
  account text not null,
  day int not null,
  place int not null,
  model text,
  key_id text,
  plan text,
  target text,
  prepaid boolean not null,
  -- The host's tags. Null where the sums of the day do not have all of them.
  tags jsonb,
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
`;
