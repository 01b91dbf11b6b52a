/** What changes the responses of an account. Each locks the account's row first, and only purge_responses several rows. */
export const responseFunctions = /* sql */ `
create function infergate.lock_responses(wanted text) returns bigint
language sql volatile as $$
  insert into infergate.response_account as known (id, bytes) values (wanted, 0)
  on conflict (id) do update set bytes = known.bytes
  returning bytes
$$;

create function infergate.save_response_bytes(wanted text, total bigint) returns void
language plpgsql as $$
begin
  if exists (select from infergate.response where account = wanted) then
    update infergate.response_account set bytes = total where id = wanted;
  else
    delete from infergate.response_account where id = wanted;
  end if;
end
$$;

-- Keeps a response. The account's oldest go beyond so many bytes; one that is larger is not kept.
create function infergate.put_response(
  new_account text, new_id text, new_created_at bigint, new_previous_id text, new_bytes bigint, new_response text,
  items json, most_bytes bigint
) returns void
language plpgsql as $$
declare
  total bigint := infergate.lock_responses(new_account);
  dropped bigint;
  made bigint;
begin
  delete from infergate.response where account = new_account and id = new_id returning bytes into dropped;
  total := total - coalesce(dropped, 0);
  if new_bytes <= most_bytes then
    insert into infergate.response (account, id, put_at, created_at, previous_id, bytes, response)
      values (new_account, new_id, infergate.clock_ms(), new_created_at, new_previous_id, new_bytes, new_response)
      returning sequence into made;
    insert into infergate.response_item
      select made, position, (item->>0)::boolean, new_account, item->>1, item->>2
      from json_array_elements(items) with ordinality as given (item, position);
    total := total + new_bytes;
  end if;
  while total > most_bytes loop
    delete from infergate.response where sequence = (
      select sequence from infergate.response where account = new_account order by sequence limit 1
    )
    returning bytes into dropped;
    exit when not found;
    total := total - dropped;
  end loop;
  perform infergate.save_response_bytes(new_account, total);
end
$$;

-- Answers whether there was one that had not expired.
create function infergate.delete_response(wanted text, wanted_id text, ttl_ms bigint) returns boolean
language plpgsql as $$
declare
  total bigint := infergate.lock_responses(wanted);
  dropped record;
begin
  delete from infergate.response where account = wanted and id = wanted_id returning bytes, put_at into dropped;
  perform infergate.save_response_bytes(wanted, total - coalesce(dropped.bytes, 0));
  return coalesce(dropped.put_at > infergate.clock_ms() - ttl_ms, false);
end
$$;

-- Deletes so many of the account's oldest that were put at or before a moment. Answers how many there were.
create function infergate.delete_responses(wanted text, until bigint, step_size int) returns bigint
language plpgsql as $$
declare
  total bigint := infergate.lock_responses(wanted);
  deleted bigint;
  dropped bigint;
begin
  with gone as (
    delete from infergate.response where sequence = any (
      array(
        select sequence from infergate.response where account = wanted and put_at <= until order by sequence limit step_size
      )
    )
    returning bytes
  )
  select count(*), coalesce(sum(bytes), 0) into deleted, dropped from gone;
  perform infergate.save_response_bytes(wanted, total - dropped);
  return deleted;
end
$$;

-- Deletes up to so many that have expired, but for those of accounts that are busy. Answers whether there may be more.
create function infergate.purge_responses(ttl_ms bigint, step_size int) returns boolean
language plpgsql as $$
declare
  until constant bigint := infergate.clock_ms() - ttl_ms;
  expired record;
begin
  for expired in
    select account, count(*)::int as responses
    from (select account from infergate.response where put_at <= until order by put_at limit step_size) as oldest
    group by account
  loop
    -- Without waiting: other rows are locked already, and who has this one may wait for them.
    perform from infergate.response_account where id = expired.account for update skip locked;
    if found then perform infergate.delete_responses(expired.account, until, expired.responses); end if;
  end loop;
  return found;
end
$$;
`;

/** Entries for what is not READ COMMITTED by default, as those of the ledger. Each answers the rows of its function in an array. */
export const responseProcedures = /* sql */ `
create procedure infergate.put_response_read_committed(
  new_account text, new_id text, new_created_at bigint, new_previous_id text, new_bytes bigint, new_response text,
  items json, most_bytes bigint, inout results text
)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  perform infergate.put_response(
    new_account, new_id, new_created_at, new_previous_id, new_bytes, new_response, items, most_bytes
  );
  results := '[]';
end
$$;

create procedure infergate.delete_response_read_committed(wanted text, wanted_id text, ttl_ms bigint, inout results text)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  results := jsonb_build_array(infergate.delete_response(wanted, wanted_id, ttl_ms));
end
$$;

create procedure infergate.delete_responses_read_committed(wanted text, until bigint, step_size int, inout results text)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  results := jsonb_build_array(infergate.delete_responses(wanted, until, step_size));
end
$$;
`;
