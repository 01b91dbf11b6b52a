import { creditTables } from "./version-1/credits.js";
import { usageTables } from "./version-1/usage.js";

/**
 * Keys, plans, accounts, budgets and models, as the host keeps them. Every change is told on a channel.
 */
const recordTables = /* sql */ `
create table infergate.record (
  -- key, plan, account_record, budget or model.
  kind text not null,
  -- Of a budget: its account, a line feed, the name of the tag, =, and its value.
  id text not null,
  -- The account of a key or a budget; else empty.
  owner text not null,
  -- The hash of a key.
  alias text,
  -- JSON, letter by letter as it was put.
  text text not null,
  -- When a key was last used.
  used_at bigint,
  primary key (kind, id),
  unique (kind, alias)
);
-- By bytes: lists have one order whatever the database's locale is.
create index record_owner on infergate.record (kind, owner, id collate "C");

-- Tells of a change on the channel of the kind: a key's hash, a budget's account, else the id.
create function infergate.notify_record() returns trigger
language plpgsql as $$
begin
  -- The same text twice in a transaction is sent once.
  if tg_op <> 'INSERT' then
    perform pg_notify(tg_table_schema || '_' || old.kind,
      case old.kind when 'key' then old.alias when 'budget' then old.owner else old.id end);
  end if;
  if tg_op <> 'DELETE' then
    perform pg_notify(tg_table_schema || '_' || new.kind,
      case new.kind when 'key' then new.alias when 'budget' then new.owner else new.id end);
  end if;
  return null;
end
$$;
-- To be used is no change that anybody has to hear of: this names every other column.
create trigger notify_record after insert or delete or update of kind, id, owner, alias, text on infergate.record
  for each row execute function infergate.notify_record();
`;

/** Responses that later requests refer to. Whoever changes those of an account holds the lock of its row first. */
const responseTables = /* sql */ `
create table infergate.response_account (
  id text primary key,
  -- Of all its responses.
  bytes bigint not null
);

create table infergate.response (
  -- Grows, within an account, with the time at which they are put.
  sequence bigint generated always as identity primary key,
  account text not null,
  id text not null,
  put_at bigint not null,
  created_at bigint not null,
  previous_id text,
  bytes bigint not null,
  response text not null,
  unique (account, id)
);
create index response_account_sequence on infergate.response (account, sequence);
create index response_put_at on infergate.response (put_at);

create table infergate.response_item (
  response bigint not null references infergate.response on delete cascade,
  position int not null,
  is_output boolean not null,
  account text not null,
  id text not null,
  item text not null,
  primary key (response, position)
);
create index response_item_id on infergate.response_item (account, id, response, position);
`;

/** The log of requests with what is counted of it, and the audit of what the host's code changes by the management API. */
const logTables = /* sql */ `
create table infergate.request (
  sequence bigint generated always as identity primary key,
  at bigint not null,
  line_id text collate "C" not null,
  request_id text not null,
  account text,
  key_id text,
  is_error boolean not null,
  tags jsonb,
  -- JSON.
  line text not null,
  texts text,
  unique (at, line_id)
);
create index request_id on infergate.request (request_id, at, line_id);
create index request_account on infergate.request (account, at, line_id) where account is not null;
create index request_key on infergate.request (key_id, at, line_id) where key_id is not null;
create index request_error on infergate.request (at, line_id) where is_error;

create table infergate.request_tag (
  account text not null,
  name text not null,
  value text not null,
  at bigint not null,
  line_id text collate "C" not null,
  primary key (account, name, value, at, line_id)
);

-- Refusals and failures of a minute, one row for each batch.
create table infergate.request_count (
  sequence bigint generated always as identity primary key,
  minute bigint not null,
  account text,
  plan text,
  model text,
  target text,
  key_id text,
  tags jsonb,
  refusals bigint not null,
  failures bigint not null
);
create index request_count_minute on infergate.request_count (minute);
create index request_count_account on infergate.request_count (account) where account is not null;

create table infergate.audit_entry (
  sequence bigint generated always as identity primary key,
  place text collate "C" not null unique,
  at bigint not null,
  account text,
  -- Another account that the entry is found by.
  moved_to text,
  key text,
  action text not null,
  author text,
  -- JSON.
  entry text not null
);
create index audit_entry_account on infergate.audit_entry (account, place) where account is not null;
create index audit_entry_moved on infergate.audit_entry (moved_to, place) where moved_to is not null;
create index audit_entry_key on infergate.audit_entry (key, place) where key is not null;
create index audit_entry_action on infergate.audit_entry (action, place);
create index audit_entry_author on infergate.audit_entry (author, place) where author is not null;
`;

export const postgresVersion1 = [creditTables, usageTables, recordTables, responseTables, logTables].join("");
