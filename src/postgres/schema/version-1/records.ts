/**
 * Keys, plans, accounts, budgets and models, as the host keeps them. Every change is told on a channel. Where ids are
 * compared byte for byte, lists have one order whatever the database's locale is.
 */
export const recordTables = /* sql */ `
-- Tells of a change on the channel with the first name that the trigger gives, by the column with the second one.
create function infergate.notify_change() returns trigger
language plpgsql as $$
begin
  -- The same text twice in a transaction is sent once.
  perform pg_notify(tg_table_schema || '_' || tg_argv[0], to_jsonb(old)->>tg_argv[1]) where tg_op <> 'INSERT';
  perform pg_notify(tg_table_schema || '_' || tg_argv[0], to_jsonb(new)->>tg_argv[1]) where tg_op <> 'DELETE';
  return null;
end
$$;

create table infergate.record (
  -- key, plan, account_record, budget or model.
  kind text not null,
  -- Of a budget: its account, a line feed, the name of the tag, =, and its value.
  id text collate "C" not null,
  -- The account of a key or a budget; else empty.
  owner text collate "C" not null,
  -- The hash of a key.
  alias text,
  -- JSON, letter by letter as it was put.
  text text not null,
  -- When a key was last used.
  used_at bigint,
  primary key (kind, id),
  unique (kind, alias)
);
create index record_owner on infergate.record (kind, owner, id);

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

create table infergate.api_key (
  id text primary key,
  hash text not null unique,
  account text not null,
  -- Null: its account's record has one.
  plan text,
  hint text not null,
  name text,
  created_at bigint not null,
  expires_at bigint,
  revoked_at bigint,
  models jsonb,
  anchor bigint,
  -- Null: it is enabled.
  enabled boolean,
  metadata jsonb,
  credits jsonb,
  rates jsonb,
  tags jsonb,
  lineage text,
  last_used_at bigint
);
create index api_key_account on infergate.api_key (account, created_at, id);
-- To be used is no change that anybody has to hear of: this names every other column.
create trigger notify_key after insert or delete or update of
  id, hash, account, plan, hint, name, created_at, expires_at, revoked_at, models, anchor, enabled, metadata,
  credits, rates, tags, lineage
  on infergate.api_key
  for each row execute function infergate.notify_change('key', 'hash');

create table infergate.plan (
  id text primary key,
  plan jsonb not null
);
create trigger notify_plan after insert or update or delete on infergate.plan
  for each row execute function infergate.notify_change('plan', 'id');

-- Accounts as the host sees them; the ledger's table has their credits.
create table infergate.account_record (
  id text collate "C" primary key,
  plan text not null,
  anchor bigint,
  status text,
  message text,
  metadata jsonb,
  rates jsonb,
  -- A list.
  models jsonb,
  price_factor numeric
);
create trigger notify_account_record after insert or update or delete on infergate.account_record
  for each row execute function infergate.notify_change('account_record', 'id');

create table infergate.budget (
  account text collate "C" not null,
  -- The name of the tag, =, and its value; no value: it is of each value that has no budget of its own.
  field text collate "C" not null,
  budget jsonb not null,
  primary key (account, field)
);
create trigger notify_budget after insert or update or delete on infergate.budget
  for each row execute function infergate.notify_change('budget', 'account');

create table infergate.model (
  id text collate "C" primary key,
  -- JSON, letter by letter as it was put: its digest is its version.
  model text not null
);
create trigger notify_model after insert or update or delete on infergate.model
  for each row execute function infergate.notify_change('model', 'id');
`;
