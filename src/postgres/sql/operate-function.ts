/** The entry to the ledger for what changes accounts. */
export const operateFunction = /* sql */ `
-- batches: [{"account": text, "operations": [...]}], the accounts in one order everywhere, or processes could deadlock.
-- One answer per operation, in their order. What an operation refuses is an answer too, so that its neighbours stand.
create function infergate.operate(batches jsonb) returns setof jsonb
-- Rows come and go so fast that the statistics often show empty tables, which the planner would then read in full.
language plpgsql set enable_seqscan = off as $$
declare
  batch jsonb;
  op jsonb;
  step infergate.step;
  before infergate.account;
  moment bigint;
begin
  for batch in select value from jsonb_array_elements(batches) loop
    before := infergate.lock_account(batch->>'account');
    -- After the lock: it may have been waited for.
    moment := infergate.clock_ms();
    step.account := infergate.expire_holds(before, moment);
    for op in select value from jsonb_array_elements(batch->'operations') loop
      if (step.account).prepaid is not null then step.account := infergate.lapse(step.account, moment); end if;
      step := case op->>'op'
        when 'reserve' then infergate.reserve(step.account, op, moment)
        when 'settle' then infergate.settle(step.account, op, moment)
        when 'renew' then infergate.renew(step.account, op, moment)
        when 'grant' then infergate.grant_credits(step.account, op, moment)
        when 'reset' then infergate.reset_windows(step.account, op, moment)
        when 'topup' then infergate.top_up(step.account, op, moment)
        when 'deduct' then infergate.deduct(step.account, op, moment)
        when 'expire' then infergate.step('expired', step.account, moment)
      end;
      if op ? 'named' then
        step.answer := step.answer || infergate.named_limits(before.id, op->'named');
      end if;
      return next step.answer;
    end loop;
    if step.account is distinct from before then
      update infergate.account set
        session = (step.account).session,
        week = (step.account).week,
        month = (step.account).month,
        next_expiry = (step.account).next_expiry,
        prepaid = (step.account).prepaid
        where id = before.id;
    elsif step.account is not distinct from infergate.empty_account(before.id)
      and not batch->'operations' @> '[{"op": "reserve"}]'
    then
      -- It was made to be locked, and there is nothing to remember.
      delete from infergate.account where id = before.id;
    end if;
  end loop;
end
$$;
`;
