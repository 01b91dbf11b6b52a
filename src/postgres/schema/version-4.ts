/** Accounts as the host sees them; the ledger's table has their credits. Ids are compared byte for byte, so that pages have
 * one order whatever the database's locale is. */
export const postgresVersion4 = /* sql */ `
create table infergate.account_record (
  id text collate "C" primary key,
  plan text not null,
  anchor bigint,
  status text,
  message text,
  metadata jsonb
);

create function infergate.notify_account_record() returns trigger
language plpgsql as $$
begin
  perform pg_notify(tg_table_schema || '_account_record', coalesce(new.id, old.id));
  return null;
end
$$;

create trigger notify_account_record after insert or update or delete on infergate.account_record
  for each row execute function infergate.notify_account_record();

-- Keys of an account that is in the table above need no plan of their own.
alter table infergate.api_key alter column plan drop not null;
`;
