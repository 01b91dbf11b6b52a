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
