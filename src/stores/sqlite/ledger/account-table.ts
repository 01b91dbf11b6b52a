import type { AccountState } from "../../../ledger/engine/ledger-records.js";
import { newAccountLimits } from "../../../ledger/rules/account-limits.js";
import type { Prepaid } from "../../../ledger/rules/prepaid.js";
import { newInstance, noInstances, type WindowInstance } from "../../../ledger/rules/windows.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, type SqliteValue, toNumber, toNumberOrNull } from "../sqlite-database.js";

/** The newest instance of each window of an account, with what is counted in it, and its prepaid credits. */
export interface AccountRow extends AccountState {
  /** Of the journal's newest entry. */
  sequence: number;
  /** No hold expires earlier. The one that was to expire then may be gone. */
  nextExpiry: number | null;
}

export function newAccount(id: string): AccountRow {
  return { id, sequence: 0, nextExpiry: null, limits: undefined, admission: undefined, ...noInstances };
}

/** Of an account's row, in their order, beside its id. */
const columns = [
  ...["sequence", "next_expiry"],
  ...["session", "week", "month"].flatMap((window) =>
    ["start", "end", "used", "held", "bonus"].map((name) => `${window}_${name}`),
  ),
  ...["lots", "prepaid_held", "overdrawn"],
];

export class AccountTable {
  readonly #get: SqliteStatement;
  readonly #put: SqliteStatement;
  readonly #delete: SqliteStatement;
  readonly #after: SqliteStatement;
  readonly #lastOf: SqliteStatement;
  readonly #due: SqliteStatement;

  constructor(connection: SqliteConnection) {
    this.#get = connection.prepare("SELECT * FROM infergate_account WHERE id = ?");
    // Not REPLACE: where a host has turned on recursive triggers, it would fire those of a deletion.
    this.#put = connection.prepare(`
      INSERT INTO infergate_account (id, ${columns.join(", ")}) VALUES (?${", ?".repeat(columns.length)})
      ON CONFLICT (id) DO UPDATE SET ${columns.map((name) => `${name} = excluded.${name}`).join(", ")}`);
    this.#delete = connection.prepare("DELETE FROM infergate_account WHERE id = ?");
    this.#after = connection.prepare("SELECT id FROM infergate_account WHERE id > ? ORDER BY id LIMIT 1");
    this.#lastOf = connection.prepare("SELECT id FROM infergate_account WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?");
    // An account's next expiry may be of a hold that is gone.
    this.#due = connection.prepare(`
      SELECT a.id FROM (SELECT id, next_expiry FROM infergate_account WHERE id > ? ORDER BY id LIMIT ?) AS a
      WHERE a.next_expiry <= ? AND EXISTS (
        SELECT 1 FROM infergate_entry WHERE account = a.id AND at IS NULL AND expires_at <= ?
      )`);
  }

  get(id: string): AccountRow | undefined {
    const row = this.#get.get(id) as Record<string, unknown> | null | undefined;
    if (!row) return undefined;
    return {
      id,
      sequence: toNumber(row["sequence"]),
      nextExpiry: toNumberOrNull(row["next_expiry"]),
      session: toInstance(row, "session"),
      week: toInstance(row, "week"),
      month: toInstance(row, "month"),
      admission: undefined,
      limits: row["lots"] === null ? undefined : { ...newAccountLimits(), prepaid: toPrepaid(row) },
    };
  }

  put({ id, sequence, nextExpiry, session, week, month, limits }: AccountRow): void {
    const windows = [...toValues(session), ...toValues(week), ...toValues(month)];
    this.#put.run(id, sequence, nextExpiry, ...windows, ...toPrepaidValues(limits?.prepaid));
  }

  delete(id: string): void {
    this.#delete.run(id);
  }

  /** The account that follows in the order of ids. */
  idAfter(id: string): string | undefined {
    const row = this.#after.get(id) as { id: string } | null | undefined;
    return row?.id;
  }

  /**
   * Looks at the next accounts in the order of ids.
   *
   * @returns those that have a hold to end; with `next` where more accounts may follow.
   */
  due(after: string, count: number, now: number): DueAccounts {
    const last = this.#lastOf.get(after, count - 1) as { id: string } | null | undefined;
    const rows = this.#due.all(after, count, now, now) as { id: string }[];
    return { due: rows.map(({ id }) => id), next: last?.id };
  }
}

interface DueAccounts {
  readonly due: readonly string[];
  readonly next: string | undefined;
}

function toInstance(row: Record<string, unknown>, window: "session" | "week" | "month"): WindowInstance {
  const start = row[`${window}_start`];
  if (start === null) return noInstances[window];
  const instance = newInstance(toNumber(start), toNumber(row[`${window}_end`]));
  instance.used = toNumber(row[`${window}_used`]);
  instance.held = toNumber(row[`${window}_held`]);
  instance.bonus = toNumber(row[`${window}_bonus`]);
  return instance;
}

function toPrepaid(row: Record<string, unknown>): Prepaid {
  return {
    lots: JSON.parse(row["lots"] as string),
    held: toNumber(row["prepaid_held"]),
    overdrawn: toNumber(row["overdrawn"]),
  };
}

const noPrepaid = [null, null, null] as const;

function toPrepaidValues(prepaid: Prepaid | undefined): readonly SqliteValue[] {
  return prepaid ? [JSON.stringify(prepaid.lots), prepaid.held, prepaid.overdrawn] : noPrepaid;
}

function toValues({ start, end, used, held, bonus }: WindowInstance): SqliteValue[] {
  return [Number.isFinite(start) ? start : null, Number.isFinite(end) ? end : null, used, held, bonus];
}
