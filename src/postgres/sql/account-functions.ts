/** What every operation on an account begins with, and how a hold's end changes it. */
export const accountFunctions = /* sql */ `
create function infergate.empty_account(id text) returns infergate.account
language sql immutable as $$
  select row(
    id, infergate.no_instance(), infergate.no_instance(), infergate.no_instance(), 9223372036854775807, null
  )::infergate.account
$$;

create function infergate.lock_account(wanted text) returns infergate.account
language plpgsql as $$
declare
  account infergate.account;
begin
  loop
    select * into account from infergate.account where id = wanted for update;
    if found then return account; end if;
    -- It may be forgotten again before it is locked.
    insert into infergate.account select (infergate.empty_account(wanted)).* on conflict do nothing;
  end loop;
end
$$;

-- Ends a hold, or corrects an earlier charge, in those instances of the admission that are still the newest.
create function infergate.charge_account(
  account infergate.account, starts bigint[], ends bigint[], held bigint, amount bigint, moment bigint
) returns infergate.account
language plpgsql immutable as $$
begin
  account.session := infergate.charged(account.session, starts[1], ends[1], held, amount, moment);
  account.week := infergate.charged(account.week, starts[2], ends[2], held, amount, moment);
  account.month := infergate.charged(account.month, starts[3], ends[3], held, amount, moment);
  return infergate.without_empty_session(account);
end
$$;

-- A session in which nothing is used, held or granted is as if it had never been opened.
create function infergate.without_empty_session(account infergate.account) returns infergate.account
language plpgsql immutable as $$
begin
  if (account.session).used = 0 and (account.session).held = 0 and (account.session).bonus = 0 then
    account.session := infergate.no_instance();
  end if;
  return account;
end
$$;

-- In the order in which they died: one may close a session that another would charge.
create function infergate.due_holds(owner text, moment bigint) returns setof infergate.hold
language sql stable as $$
  select * from infergate.hold where hold.account = owner and not expired and expires_at <= moment
  order by expires_at, id collate "C"
$$;

-- The account as it is once the holds that are due have ended. Changes nothing.
create function infergate.without_expired(account infergate.account, moment bigint) returns infergate.account
language plpgsql stable as $$
declare
  due infergate.hold;
  share bigint;
begin
  if moment < account.next_expiry then return account; end if;
  for due in select * from infergate.due_holds(account.id, moment) loop
    share := infergate.prepaid_share(account, due, due.checkpoint, moment);
    account := infergate.charge_split(account, due, due.checkpoint, share, moment);
  end loop;
  return account;
end
$$;

-- What an expiry, or a renewal after it, has charged, and what prepaid credits paid of it.
create function infergate.write_checkpoint(hold infergate.hold, amount bigint, share bigint, moment bigint) returns void
language plpgsql as $$
begin
  insert into infergate.entry (account, at, id, kind, amount, prepaid, starts, tags) values (
    hold.account, moment, hold.id, 'checkpoint', amount, infergate.entry_prepaid(amount, share),
    infergate.entry_starts(hold.starts, amount, share), hold.tags
  );
end
$$;

-- Ends the holds that are due, charging the cost seen by their last renewals.
create function infergate.expire_holds(account infergate.account, moment bigint) returns infergate.account
language plpgsql as $$
declare
  horizon constant bigint := moment + 1000;
  due infergate.hold;
  share bigint;
  by_plan numeric := 0;
  by_prepaid numeric := 0;
begin
  if moment < account.next_expiry then return account; end if;
  for due in select * from infergate.due_holds(account.id, moment) loop
    share := infergate.prepaid_share(account, due, due.checkpoint, moment);
    if due.part is null and share = 0 then
      account := infergate.charge_account(account, due.starts, due.ends, due.held, due.checkpoint, moment);
    else
      account := infergate.end_reservation(account, due, due.checkpoint, share, moment);
      perform infergate.end_takes(account.id, due.part, due.part->'uses', 'expiry', moment);
    end if;
    continue when due.checkpoint = 0;
    perform infergate.write_checkpoint(due, due.checkpoint, share, moment);
    if due.part ? 'prepaidAt' or share <> 0 then
      update infergate.hold set part = infergate.with_paid(due, share) where id = due.id;
    end if;
    if due.tags is not null then
      perform infergate.add_charge(account.id, moment, 0, due.checkpoint, share, due.tags);
      continue;
    end if;
    by_plan := by_plan + due.checkpoint - share;
    by_prepaid := by_prepaid + share;
  end loop;
  if found then
    -- What it had taken of buckets has gone back: a settlement after this changes none.
    update infergate.hold set expired = true, part = part - 'takes' - 'uses'
      where hold.account = account.id and not expired and expires_at <= moment;
    -- Once for all of them: there may be thousands.
    perform infergate.add_usage(account.id, moment, 0, least(by_plan, 9007199254740991)::bigint, false, null);
    perform infergate.add_usage(account.id, moment, 0, least(by_prepaid, 9007199254740991)::bigint, true, null);
  end if;
  -- Not the earliest of all: to find that, one would have to pass by every hold that was settled lately.
  account.next_expiry := coalesce(
    (
      select min(expires_at) from infergate.hold
      where hold.account = account.id and not expired and expires_at between moment and horizon
    ),
    horizon + 1
  );
  return account;
end
$$;
`;
