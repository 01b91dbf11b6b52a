import type { EntryTags } from "../../../ledger/credit-ledger.js";
import type {
  EndedReservation,
  PrepaidCalls,
  ReservationEnd,
  Reserved,
  StoredReservation,
} from "../../../ledger/engine/ledger-records.js";
import type { RateUse } from "../../../ledger/limits.js";
import { expiredPart, type HeldLimits } from "../../../ledger/rules/account-limits.js";
import { noUses } from "../../../ledger/rules/rates.js";
import type { Receipt } from "../../../ledger/rules/reservation.js";
import type { AdmittedLimits, AdmittedWindows } from "../../../ledger/rules/windows.js";
import { fundingOf } from "../../../ledger/window-states.js";
import type { Micro } from "../../../prices/micro.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, toNumber, toNumberOrNull } from "../sqlite-database.js";

const noLimits: RowOfHeldLimits = Object.freeze({});
const noWindows = [null, null, null, null, null, null] as const;

/** What is read of a row. Drivers take longer to make a row's object than SQLite takes to find it. */
const columns = `
  id, account, kind, reserved, lease_expires_at, amount, checkpoint, paid, expires_at, tags, held_limits, limits,
  session_start, session_end, week_start, week_end, month_start, month_end`;

const insert = `INSERT INTO infergate_entry (
  id, account, session_start, session_end, week_start, week_end, month_start, month_end, reserved, lease_expires_at,
  kind, at, sequence, amount, prepaid, paid, tags, held_limits, limits, expires_at, checkpoint, part
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)`;

export class ReservationTable {
  readonly #get: SqliteStatement;
  readonly #insert: SqliteStatement;
  readonly #renew: SqliteStatement;
  readonly #end: SqliteStatement;
  readonly #clearWindows: SqliteStatement;
  readonly #due: SqliteStatement;
  readonly #expire: SqliteStatement;
  readonly #renewExpired: SqliteStatement;
  readonly #nextExpiry: SqliteStatement;
  readonly #foundPrepaid: SqliteStatement;

  constructor(connection: SqliteConnection) {
    const prepare = (sql: string) => connection.prepare(sql);
    const ofHolds = "account = ? AND at IS NULL";
    this.#get = prepare(`SELECT ${columns} FROM infergate_entry WHERE id = ? AND part = 0`);
    this.#insert = prepare(insert);
    this.#renew = prepare(
      `UPDATE infergate_entry
      SET amount = ?, checkpoint = ?, expires_at = ?, tags = ?, held_limits = ? WHERE id = ? AND part = 0`,
    );
    this.#end = prepare(`
      UPDATE infergate_entry
      SET kind = ?, at = ?, sequence = ?, amount = ?, prepaid = ?, paid = ?, tags = ?, held_limits = ?, limits = NULL
      WHERE id = ? AND part = 0`);
    this.#clearWindows = prepare(`
      UPDATE infergate_entry
      SET session_start = NULL, session_end = NULL, week_start = NULL, week_end = NULL, month_start = NULL, month_end = NULL
      WHERE id = ? AND part = 0`);
    this.#due = prepare(`SELECT ${columns} FROM infergate_entry WHERE ${ofHolds} AND expires_at <= ?`);
    this.#expire = prepare("UPDATE infergate_entry SET kind = 'expired', at = ?, paid = ? WHERE id = ? AND part = 0");
    this.#renewExpired = prepare(
      "UPDATE infergate_entry SET at = ?, checkpoint = ?, paid = ?, tags = ? WHERE id = ? AND part = 0",
    );
    this.#nextExpiry = prepare(`SELECT min(expires_at) AS next FROM infergate_entry WHERE ${ofHolds}`);
    this.#foundPrepaid = prepare(`
      SELECT min(admitted_at) AS earliest, max(CASE WHEN admitted_at < ? THEN id END) AS last
      FROM (
        SELECT id, ${admittedAtInJson} AS admitted_at FROM infergate_entry WHERE ${ofHolds} AND held_limits IS NOT NULL
      )`);
  }

  get(id: string): StoredReservation | EndedReservation | undefined {
    const row = this.#get.get(id) as Row | null | undefined;
    return row ? toReservation(row) : undefined;
  }

  hold({ id, receipt, limits, part }: Reserved): void {
    const { amountMicro, expiresAt } = receipt;
    const json = toHeldLimitsJson({ part });
    this.#insert.run(
      ...toColumns(id, receipt),
      ...["hold", null, null, amountMicro, null, null, null, json, toLimitsJson(limits), expiresAt],
    );
  }

  renew({ id, held, checkpoint, expiresAt, tags, part, uses }: StoredReservation): void {
    this.#renew.run(held, checkpoint, expiresAt, toJson(tags), toHeldLimitsJson({ part, uses }), id);
  }

  renewExpired({ id, checkpoint, paid, tags }: StoredReservation, now: number): void {
    this.#renewExpired.run(now, checkpoint, paid, toJson(tags), id);
  }

  expire({ id, paid }: StoredReservation, now: number): void {
    this.#expire.run(now, paid, id);
  }

  end({ id, receipt }: StoredReservation, end: ReservationEnd, sequence: number): void {
    const { hasColumns, values } = toEndColumns(receipt, end, sequence);
    this.#end.run(...values, id);
    if (!hasColumns) this.#clearWindows.run(id);
  }

  /** Writes a reservation of which nothing was known, and its end. */
  insertEnded({ id, receipt }: Reserved, end: ReservationEnd, sequence: number): void {
    const { hasColumns, values } = toEndColumns(receipt, end, sequence);
    this.#insert.run(...toColumns(id, receipt, hasColumns), ...values, null, receipt.expiresAt);
  }

  /** The account's holds that have expired. */
  due(account: string, now: number): readonly StoredReservation[] {
    return (this.#due.all(account, now) as Row[]).map((row) => toReservation(row) as StoredReservation);
  }

  /** When the first of the account's holds will expire. `null`: no call of the account is open. */
  nextExpiry(account: string): number | null {
    return toNumberOrNull((this.#nextExpiry.get(account) as { next: unknown }).next);
  }

  prepaidCalls(account: string, before: number): PrepaidCalls {
    const row = this.#foundPrepaid.get(before, account) as { earliest: unknown; last: string | null };
    return { earliest: toNumberOrNull(row.earliest) ?? undefined, last: row.last ?? undefined };
  }
}

export function toJson(tags: EntryTags | undefined): string | null {
  return tags === undefined ? null : JSON.stringify(tags);
}

interface Row {
  readonly [column: string]: unknown;
  readonly id: string;
  readonly account: string;
  readonly kind: string;
  readonly tags: string | null;
  readonly held_limits: string | null;
  /** Of one that has ended it is NULL. */
  readonly limits: string;
}

function toReservation(row: Row): StoredReservation | EndedReservation {
  const { id, account, kind, tags, held_limits: json, limits } = row;
  const column = (name: string) => toNumber(row[name]);
  const { part, uses = noUses, windows } = json === null ? noLimits : parseHeldLimits(json);
  const receipt: Receipt = {
    account,
    amountMicro: column("reserved"),
    expiresAt: column("lease_expires_at"),
    ...(windows ?? {
      starts: { session: column("session_start"), week: column("week_start"), month: column("month_start") },
      ends: { session: column("session_end"), week: column("week_end"), month: column("month_end") },
    }),
  };
  // What is NULL is read as 0.
  const paid = column("paid");
  if (kind !== "hold" && kind !== "expired") return { state: "ended", receipt, paid };
  return {
    id,
    state: kind,
    receipt,
    limits: parseLimits(limits),
    held: column("amount"),
    checkpoint: column("checkpoint"),
    paid,
    expiresAt: column("expires_at"),
    part: kind === "hold" ? part : part && expiredPart(part),
    uses,
    tags: tags === null ? undefined : JSON.parse(tags),
    index: -1,
  };
}

/** What of a receipt its row has in columns. */
function toColumns(id: string, { account, starts, ends, amountMicro, expiresAt }: Receipt, hasWindows = true) {
  const windows = [starts.session, ends.session, starts.week, ends.week, starts.month, ends.month] as const;
  return [id, account, ...(hasWindows ? windows : noWindows), amountMicro, expiresAt] as const;
}

/**
 * The columns of an end. What prepaid credits alone have paid names no window in the journal: then its JSON keeps them, for
 * its repetitions.
 */
function toEndColumns(receipt: Receipt, { kind, at, amount, prepaid, paid, tags }: ReservationEnd, sequence: number) {
  const hasColumns = fundingOf(amount, prepaid) !== "prepaid";
  const json = toHeldLimitsJson({ windows: hasColumns ? undefined : windowsOf(receipt) });
  return { hasColumns, values: [kind, at, sequence, amount, prepaid, paid, toJson(tags), json] as const };
}

function windowsOf({ starts, ends }: Receipt): RowOfHeldLimits["windows"] {
  return { starts, ends };
}

/** What a reservation's row says in JSON of what it holds beside the windows. */
interface RowOfHeldLimits {
  readonly part?: HeldLimits | undefined;
  /** What its renewals have reported of its rates. */
  readonly uses?: readonly RateUse[] | undefined;
  /** Of one that has ended, and has none in their columns. */
  readonly windows?: AdmittedWindows | undefined;
}

function toHeldLimitsJson(held: RowOfHeldLimits): string | null {
  return held.part === undefined && held.windows === undefined ? null : JSON.stringify(held);
}

function parseHeldLimits(json: string): RowOfHeldLimits {
  const { part, uses, windows }: RowOfHeldLimits = JSON.parse(json);
  // JSON has no undefined.
  return { part: part && { ...part, prepaidAt: part.prepaidAt }, uses, windows };
}

/** In SQL: when it was admitted, if its account had prepaid credits then. */
const admittedAtInJson = "json_extract(held_limits, '$.part.prepaidAt')";

function toLimitsJson({ session, week, month }: AdmittedLimits): string {
  return JSON.stringify([session.limitMicro, week.limitMicro, month.limitMicro]);
}

function parseLimits(json: string): AdmittedLimits {
  const [session, week, month]: [Micro | null, Micro | null, Micro | null] = JSON.parse(json);
  return { session: { limitMicro: session }, week: { limitMicro: week }, month: { limitMicro: month } };
}
