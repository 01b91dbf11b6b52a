import { version11Audit } from "../books/version-11-audit.js";
import { runningTotals } from "../usage/version-11-running.js";
import { catalogOfPostgresVersion11 } from "./version-11-catalog.js";
import { quarterSums, slicesAnew } from "./version-11-quarters.js";
import { requestsOfPostgresVersion11 } from "./version-11-requests.js";

/**
 * What is rare in the journal, so that it is found without all the calls between. It is a table: no charge could be written
 * while an index of the journal is built. Entries that are there already are noted while operations go on, but for those of
 * the last minutes. And tags of keys, sums of usage by plan and by target, budgets,
 * models, the log of requests, and terms of accounts.
 */
const rareEntries = /* sql */ `
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
    coalesce(case when new.kind = 'expiry' then (new.tags->>'endedAt')::bigint end, new.at)
  );
  return null;
end
$$;

create function infergate.drop_rare_entries() returns trigger
language plpgsql as $$
begin
  delete from infergate.rare_entry as rare using gone
    where gone.kind not in ('charge', 'release')
      and rare.account = gone.account and rare.at = gone.at and rare.sequence = gone.sequence;
  return null;
end
$$;

do $note$
declare
  -- Earlier entries are committed: no operation takes this long.
  recent constant bigint := infergate.clock_ms() - 600000;
begin
  insert into infergate.rare_entry select account, at, sequence, id, kind, amount, at
    from infergate.entry where kind not in ('charge', 'release') and at < recent;
  -- Every operation begins with this table.
  lock infergate.account in exclusive mode;
  set local enable_seqscan = off;
  insert into infergate.rare_entry select account, at, sequence, id, kind, amount, at
    from infergate.entry where kind not in ('charge', 'release') and at >= recent on conflict do nothing;
  -- Those of accounts that were forgotten meanwhile.
  delete from infergate.rare_entry as rare where not exists (
    select from infergate.entry
    where entry.account = rare.account and entry.at = rare.at and entry.sequence = rare.sequence
  );
end
$note$;

create trigger note_rare_entry after insert on infergate.entry
  for each row when (new.kind not in ('charge', 'release')) execute function infergate.note_rare_entry();
create trigger drop_rare_entries after delete on infergate.entry
  referencing old table as gone for each statement execute function infergate.drop_rare_entries();

-- Processes of the release before name the columns that they write, so they leave it alone. Null: there are none.
alter table infergate.api_key add column tags jsonb;
drop trigger notify_key on infergate.api_key;
create trigger notify_key after insert or delete or update of
  id, hash, account, plan, hint, name, created_at, expires_at, revoked_at, models, anchor, enabled, metadata,
  credits, rates, tags, lineage
  on infergate.api_key
  for each row execute function infergate.notify_key();

-- What renewals have said of the call, for the journal. Null: nothing.
alter table infergate.hold add column tags jsonb;
`;

export const postgresVersion11 = [
  slicesAnew,
  rareEntries,
  quarterSums,
  runningTotals,
  catalogOfPostgresVersion11,
  requestsOfPostgresVersion11,
  version11Audit,
].join("");
