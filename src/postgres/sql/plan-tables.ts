/** Plans, with all members of the contract in a document. */
export const planTables = /* sql */ `
create table infergate.plan (
  id text primary key,
  plan jsonb not null
);

create function infergate.notify_plan() returns trigger
language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '_plan', coalesce(new.id, old.id));
  return null;
end
$$;

create trigger notify_plan after insert or update or delete on infergate.plan
  for each row execute function infergate.notify_plan();
`;
