/** Sums of parts of a day, for days of many entries that are over. They go with the journal. */
export const postgresVersion9 = /* sql */ `
-- Whether the slices of a sum's day have all that the sum has. What is added to a sum takes that back.
alter table infergate.usage_sum add column if not exists sliced boolean not null default false;

-- The slices of a day follow each other from midnight on, without a gap.
create table infergate.usage_slice (
  account text not null,
  day int not null,
  since bigint not null,
  -- Exclusive.
  until bigint not null,
  place int not null,
  model text,
  key_id text,
  prepaid boolean not null,
  -- The host's tags. Null where the sums of the day do not have all of them.
  tags jsonb,
  requests bigint not null,
  micro bigint not null,
  input bigint not null,
  cached_input bigint not null,
  cache_write bigint not null,
  output bigint not null,
  reasoning bigint not null,
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
`;
