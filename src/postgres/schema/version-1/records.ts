/**
 * Keys, plans, accounts, budgets and models, as the host keeps them. Every change is told on a channel.
 */
export const recordTables = /* sql */ `
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
