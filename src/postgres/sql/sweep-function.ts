/** What ends leases of accounts that nobody calls any more. */
export const sweepFunction = /* sql */ `
-- Ends the expired leases of so many accounts at the most. Answers how many it ended. What another operation is at, that one
-- ends.
create function infergate.sweep(most_accounts int) returns bigint
language plpgsql set enable_seqscan = off set jit = off as $$
declare
  moment constant bigint := infergate.clock_ms();
  due text[];
  open_before bigint;
begin
  -- One process at a time: another would only look for the same.
  if not pg_try_advisory_xact_lock(hashtextextended('infergate.sweep', 0)) then return 0; end if;
  due := array(
    select distinct account from infergate.hold where not expired and expires_at <= moment limit most_accounts
  );
  if due = '{}' then return 0; end if;
  due := array(select id from infergate.account where id = any (due) order by id for update skip locked);
  open_before := (select count(*) from infergate.hold where account = any (due) and not expired);
  perform infergate.operate(
    (
      select coalesce(jsonb_agg(jsonb_build_object('account', account, 'operations', '[{"op": "expire"}]'::jsonb)), '[]')
      from unnest(due) as account
    )
  );
  return open_before - (select count(*) from infergate.hold where account = any (due) and not expired);
end
$$;
`;
