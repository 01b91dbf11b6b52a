/**
 * Budgets, models and price factors of accounts, and models of the catalog. Names are compared byte for byte, so that lists have one order whatever
 * the database's locale is.
 */
export const catalogOfPostgresVersion11 = /* sql */ `
create table infergate.budget (
  account text collate "C" not null,
  -- The name of the tag, =, and its value; no value: it is of each value that has no budget of its own.
  field text collate "C" not null,
  budget jsonb not null,
  primary key (account, field)
);

create function infergate.notify_budget() returns trigger
language plpgsql as $$
begin
  -- The same text twice in a transaction is sent once.
  perform pg_notify(tg_table_schema || '_budget', old.account) where tg_op <> 'INSERT';
  perform pg_notify(tg_table_schema || '_budget', new.account) where tg_op <> 'DELETE';
  return null;
end
$$;

create trigger notify_budget after insert or update or delete on infergate.budget
  for each row execute function infergate.notify_budget();

create table infergate.model (
  id text collate "C" primary key,
  -- JSON, letter by letter as it was put: its digest is its version.
  model text not null
);

create function infergate.notify_model() returns trigger
language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '_model', old.id) where tg_op <> 'INSERT';
  perform pg_notify(tg_table_schema || '_model', new.id) where tg_op <> 'DELETE';
  return null;
end
$$;

create trigger notify_model after insert or update or delete on infergate.model
  for each row execute function infergate.notify_model();

-- Processes of the release before name the columns that they write, so they leave it alone. A list, and a number; null:
-- there is none.
alter table infergate.account_record add column models jsonb, add column price_factor numeric;
`;
