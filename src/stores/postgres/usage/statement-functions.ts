import type { LedgerEntry } from "../../../ledger/credit-ledger.js";
import { StatementBooks, type StatementPlace } from "../../../ledger/rules/statement.js";
import type { AccountStatement, StatementRequest } from "../../../ledger/usage/usage-request.js";

/** What a statement of an account is made of. */
export const statementFunctions = /* sql */ `
-- As sum_usage, of any range.
create function infergate.sum_range(owner text, since bigint, until bigint, names jsonb) returns setof jsonb
language plpgsql stable as $$
declare
  day_ms constant bigint := 86400000;
  first constant int := ceil(since::numeric / day_ms);
  last constant int := floor(until::numeric / day_ms);
begin
  if since >= until then return; end if;
  if last < first then
    return query select infergate.sum_usage(owner, 0, 0, jsonb_build_array(jsonb_build_array(last, since, until)), names);
    return;
  end if;
  return query select infergate.sum_usage(
    owner, first, last,
    (
      select coalesce(jsonb_agg(jsonb_build_array(day, begun, ended)), '[]')
      from (values (first - 1, since, first * day_ms), (last, last * day_ms, until)) as part (day, begun, ended)
      where begun < ended
    ),
    names
  );
end
$$;

-- What is due ends first. Until the end of this transaction the account is locked, so that all of it is of one moment.
create function infergate.statement(owner text, since bigint, until bigint) returns jsonb
language plpgsql set enable_seqscan = off as $$
declare
  account infergate.account;
  moment bigint;
  dropped bigint;
  begun bigint;
  ended bigint;
begin
  perform answer from infergate.operate(
    jsonb_build_array(jsonb_build_object('account', owner, 'operations', '[{"op": "expire"}]'::jsonb))
  ) as answer;
  select * into account from infergate.account where id = owner;
  moment := infergate.clock_ms();
  dropped := (select dropped_until from infergate.retention);
  -- Days before and after all that there can be.
  begun := least(greatest(since, dropped + 1, -8640000000000000), until);
  ended := least(until, 8640000000000000);
  return jsonb_build_object(
    'now', moment,
    'dropped', dropped,
    'prepaid', to_jsonb(account.prepaid),
    'rare', (
      select coalesce(jsonb_agg(jsonb_build_array(kind, is_after, total)), '[]') from (
        select kind, rare.moment >= until as is_after, sum(amount) as total from infergate.rare_entry as rare
        where rare.account = owner and at >= begun and rare.moment >= begun
          and kind in ('topup', 'deduction', 'expiry', 'grant')
        group by 1, 2
      ) as summed
    ),
    'used', (
      select coalesce(jsonb_agg(jsonb_build_array(used->0, is_after, used->2)), '[]') from (
        select false as is_after, used from infergate.sum_range(owner, begun, ended, '["funding"]') as used
        union all
        select true, used from infergate.sum_range(owner, greatest(begun, ended), 8640000000000000, '["funding"]') as used
      ) as summed
    )
  );
end
$$;

create procedure infergate.statement_read_committed(owner text, since bigint, until bigint, inout results text)
language plpgsql as $$
begin
  commit;
  set transaction isolation level read committed;
  results := jsonb_build_array(infergate.statement(owner, since, until));
end
$$;
`;

export const statementSql = "select infergate.statement($1, $2, $3)::text as json";
export const statementProcedure = "call infergate.statement_read_committed($1, $2, $3, null)";

/** What nothing was dropped before. */
const neverDropped = Number.MIN_SAFE_INTEGER;

/** What the database answers. */
export interface StoredStatement {
  readonly now: number;
  readonly dropped: number;
  readonly prepaid: {
    readonly expiries: readonly number[];
    readonly amounts: readonly number[];
    readonly overdrawn: number;
  } | null;
  readonly rare: readonly (readonly [kind: LedgerEntry["kind"], isAfter: boolean, amount: number])[];
  readonly used: readonly (readonly [funding: "plan" | "prepaid", isAfter: boolean, amount: number])[];
}

export function statementValues({ account, from, to }: StatementRequest): (string | number)[] {
  return [account, from ?? Number.MIN_SAFE_INTEGER, to ?? Number.MAX_SAFE_INTEGER];
}

export function toStatement(request: StatementRequest, stored: StoredStatement): AccountStatement {
  const { now, dropped, prepaid, rare, used } = stored;
  const books = new StatementBooks(request, {
    now,
    keptFrom: dropped === neverDropped ? undefined : dropped + 1,
    prepaid: prepaid === null ? undefined : { lots: lotsOf(prepaid), overdrawn: prepaid.overdrawn },
  });
  for (const [kind, isAfter, amountMicro] of rare) books.book(placeOf(isAfter), { kind, amountMicro });
  for (const [funding, isAfter, amountMicro] of used) {
    const prepaidMicro = funding === "prepaid" ? amountMicro : 0;
    books.book(placeOf(isAfter), { kind: "charge", amountMicro, prepaidMicro });
  }
  return books.statement();
}

function placeOf(isAfter: boolean): StatementPlace {
  return isAfter ? "after" : "within";
}

function lotsOf({ expiries, amounts }: NonNullable<StoredStatement["prepaid"]>): { expiresAt: number; left: number }[] {
  return expiries.map((expiresAt, index) => ({ expiresAt, left: amounts[index] as number }));
}
