import type { LedgerEntry } from "../../ledger/credit-ledger.js";
import type { AccountStatement, StatementRequest } from "../../ledger/statement/account-statement.js";
import { StatementBooks, type StatementPlace } from "../../ledger/statement/statement-books.js";

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
