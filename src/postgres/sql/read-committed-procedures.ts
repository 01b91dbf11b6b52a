/**
 * Entries to the ledger for databases, roles or pools whose default is a stricter isolation than READ COMMITTED: there, what
 * meets another process on an account would fail, again and again. A procedure alone can begin a transaction of its own.
 */
export const readCommittedProcedures = /* sql */ `
-- Each answers the rows of its function in an array.
create procedure infergate.operate_read_committed(batches jsonb, inout results text)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  results := (
    select jsonb_agg(answer order by place) from infergate.operate(batches) with ordinality as answers (answer, place)
  );
end
$$;

create procedure infergate.forget_read_committed(wanted text, step_size int, inout results text)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  results := jsonb_build_array(infergate.forget(wanted, step_size));
end
$$;

create procedure infergate.sweep_read_committed(most_accounts int, inout results text)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  results := jsonb_build_array(infergate.sweep(most_accounts));
end
$$;
`;
