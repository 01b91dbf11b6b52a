/** What every operation on an account begins with, and how a hold's end changes it. */
export const accountFunctions = /* sql */ `
create function infergate.empty_account(id text) returns infergate.account
language sql immutable as $$
  select row(
    id, infergate.no_instance(), infergate.no_instance(), infergate.no_instance(), 9223372036854775807
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

-- The account as it is once the holds that are due have ended. Changes nothing.
create function infergate.without_expired(account infergate.account, moment bigint) returns infergate.account
language plpgsql stable as $$
declare
  due infergate.hold;
begin
  if moment < account.next_expiry then return account; end if;
  for due in
    select * from infergate.hold where hold.account = account.id and not expired and expires_at <= moment
    -- In the order in which they died: one may close a session that another would charge.
    order by expires_at, id collate "C"
  loop
    account := infergate.charge_account(account, due.starts, due.ends, due.held, due.checkpoint, moment);
  end loop;
  return account;
end
$$;

-- Ends the holds that are due, charging the cost seen by their last renewals.
create function infergate.expire_holds(account infergate.account, moment bigint) returns infergate.account
language plpgsql as $$
declare
  horizon constant bigint := moment + 1000;
begin
  if moment < account.next_expiry then return account; end if;
  account := infergate.without_expired(account, moment);
  insert into infergate.entry (account, at, id, kind, amount, starts)
    select hold.account, moment, id, 'checkpoint', checkpoint, starts from infergate.hold
    where hold.account = account.id and not expired and expires_at <= moment and checkpoint > 0
    order by expires_at, id;
  update infergate.hold set expired = true
    where hold.account = account.id and not expired and expires_at <= moment;
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
