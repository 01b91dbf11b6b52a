import { postgresVersion8Fill } from "./version-8-fill.js";
import { postgresVersion8Functions } from "./version-8-functions.js";

const usageSums = /* sql */ `
-- No index on what changes, and room on each page: nearly every update is a HOT update.
create table infergate.usage_sum (
  account text not null,
  -- Days of UTC since 1970-01-01.
  day int not null,
  -- Digests of the tags, and of model, key and funding: an index could not hold the names.
  tag_set bytea not null,
  digest bytea not null,
  model text,
  key_id text,
  prepaid boolean not null,
  -- The host's tags, by their names in the journal. Null: this sums up what had one set of tags more than are kept a day.
  tags jsonb,
  requests bigint not null,
  micro bigint not null,
  input bigint not null,
  cached_input bigint not null,
  cache_write bigint not null,
  output bigint not null,
  reasoning bigint not null,
  primary key (account, day, tag_set, digest)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02);

-- For the retention.
create index usage_sum_day on infergate.usage_sum (day);
-- The days whose tags are in the journal alone.
create index usage_sum_untagged on infergate.usage_sum (account, day) where tags is null;
`;

/**
 * Sums of the journal. They are written in the transaction of the entries that they sum up, and outlive them. An account's
 * row is locked while its sums change.
 */
export const postgresVersion8 = [usageSums, postgresVersion8Functions, postgresVersion8Fill].join("");
