/**
 * The plan and prepaid credits pay together. What is new is null wherever they do not, and takes no room there. What processes
 * of the first version send is understood again.
 */
export const postgresVersion10 = /* sql */ `
-- Every operation begins with this table: none goes on with functions of two versions.
lock table infergate.account in exclusive mode;

-- Those of its admission, in the order session, week, month; null is unlimited. Null: of an earlier version.
alter table infergate.hold add column limits bigint[];

-- What prepaid credits paid of the amount. Null: all of it if the entry names no window, else nothing.
alter table infergate.entry add column prepaid bigint;
-- What they have paid for the reservation that it ends. Null: what they paid of this entry.
alter table infergate.entry add column paid bigint;

-- To which accounts, by a digest, the ids of top-ups and deductions belong in a ledger of several databases.
create table infergate.top_up_claim (
  id text primary key,
  account bytea not null,
  -- The latest time that it was given to the account.
  at bigint not null
);
create index top_up_claim_at on infergate.top_up_claim (at);

-- Open calls that found prepaid credits at their admission: they may need what has ended since.
create index hold_prepaid on infergate.hold (account, ((part->>'prepaidAt')::bigint))
  where not expired and (part->>'prepaidAt')::bigint is not null;

-- Accounts that have spent exactly what they had bought.
update infergate.account set prepaid = row('{}'::bigint[], '{}'::bigint[], 0, 0)::infergate.prepaid
  where prepaid is null and id in (select account from infergate.top_up);

drop function if exists infergate.available_prepaid(infergate.prepaid, bigint);
drop function if exists infergate.charge_funds(infergate.account, infergate.hold, bigint, bigint, bigint);
drop function if exists infergate.end_reservation(infergate.account, infergate.hold, bigint, bigint);
drop function if exists infergate.entry_starts(jsonb, bigint[]);
`;
