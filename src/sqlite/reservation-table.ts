import type { AdmittedLimits } from "../ledger/account-state.js";
import type { EntryTags } from "../ledger/credit-ledger.js";
import { fundingOf } from "../ledger/funding.js";
import { expiredPart, type HeldLimits } from "../ledger/limits/held-limits.js";
import { noUses } from "../ledger/limits/no-uses.js";
import type { RateUse } from "../ledger/rate-limit.js";
import type { Receipt } from "../ledger/receipt.js";
import type { Micro } from "../metering/micro.js";
import {
  admittedAtInJson,
  parseHeldLimits,
  parseLimits,
  type RowOfHeldLimits,
  toHeldLimitsJson,
  toLimitsJson,
} from "./limits/held-limits-json.js";
import { toNumber, toNumberOrNull } from "./numbers.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { SqliteStatement } from "./sqlite-database.js";

/** A reservation: open, died unsettled, or ended. */
export interface StoredReservation {
  readonly id: string;
  readonly state: "hold" | "expired" | "ended";
  readonly receipt: Receipt;
  /** Those of its admission. `undefined`: it has ended. */
  readonly limits: AdmittedLimits | undefined;
  /** What is held while it is open: the amount reserved, or the cost seen where that is more. */
  readonly held: Micro;
  /** The cost seen so far, which the expiry charges. */
  readonly checkpoint: Micro;
  /** What prepaid credits have paid for it. */
  readonly paid: Micro;
  readonly expiresAt: number;
  /** What it holds beside the windows, or in place of them. `undefined`: nothing, or it has ended. */
  readonly part: HeldLimits | undefined;
  /** What its renewals have reported of its rates. */
  readonly uses: readonly RateUse[];
  /** What they have said of the call. `undefined`: nothing, or it has ended. */
  readonly tags: EntryTags | undefined;
}

/** What identifies a reservation, and what it holds. */
export type Reserved = Pick<StoredReservation, "id" | "receipt" | "limits" | "part">;

/** What a renewal changes of an open reservation. */
export interface Renewal extends Pick<StoredReservation, "held" | "checkpoint" | "expiresAt"> {
  /** `undefined`: as they were. */
  readonly tags: EntryTags | undefined;
}

/** How a reservation has ended, as it enters the journal. */
export interface ReservationEnd {
  readonly kind: "charge" | "release";
  readonly at: number;
  readonly sequence: number;
  readonly amount: Micro;
  /** What prepaid credits pay of the amount. */
  readonly prepaid: Micro;
  /** What they have paid in all. */
  readonly paid: Micro;
  readonly tags: EntryTags | undefined;
}

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
  readonly #observe: SqliteStatement;
  readonly #end: SqliteStatement;
  readonly #clearWindows: SqliteStatement;
  readonly #due: SqliteStatement;
  readonly #expireDue: SqliteStatement;
  readonly #pay: SqliteStatement;
  readonly #raise: SqliteStatement;
  readonly #nextExpiry: SqliteStatement;
  readonly #foundPrepaid: SqliteStatement;

  constructor(connection: SqliteConnection) {
    const prepare = (sql: string) => connection.prepare(sql);
    const ofHolds = "account = ? AND at IS NULL";
    this.#get = prepare(`SELECT ${columns} FROM infergate_entry WHERE id = ? AND part = 0`);
    this.#insert = prepare(insert);
    this.#renew = prepare(
      "UPDATE infergate_entry SET amount = ?, checkpoint = ?, expires_at = ?, tags = coalesce(?, tags) WHERE id = ? AND part = 0",
    );
    this.#observe = prepare("UPDATE infergate_entry SET held_limits = ? WHERE id = ? AND part = 0");
    this.#end = prepare(`
      UPDATE infergate_entry
      SET kind = ?, at = ?, sequence = ?, amount = ?, prepaid = ?, paid = ?, tags = ?, held_limits = ?, limits = NULL
      WHERE id = ? AND part = 0`);
    this.#clearWindows = prepare(`
      UPDATE infergate_entry
      SET session_start = NULL, session_end = NULL, week_start = NULL, week_end = NULL, month_start = NULL, month_end = NULL
      WHERE id = ? AND part = 0`);
    this.#due = prepare(`SELECT ${columns} FROM infergate_entry WHERE ${ofHolds} AND expires_at <= ?`);
    this.#expireDue = prepare(
      `UPDATE infergate_entry SET kind = 'expired', at = ? WHERE ${ofHolds} AND expires_at <= ?`,
    );
    this.#pay = prepare("UPDATE infergate_entry SET paid = ? WHERE id = ? AND part = 0");
    this.#raise = prepare("UPDATE infergate_entry SET at = ?, checkpoint = ?, paid = ? WHERE id = ? AND part = 0");
    this.#nextExpiry = prepare(`SELECT min(expires_at) AS next FROM infergate_entry WHERE ${ofHolds}`);
    this.#foundPrepaid = prepare(`
      SELECT min(admitted_at) AS earliest, max(CASE WHEN admitted_at < ? THEN id END) AS last
      FROM (
        SELECT id, ${admittedAtInJson} AS admitted_at FROM infergate_entry WHERE ${ofHolds} AND held_limits IS NOT NULL
      )`);
  }

  get(id: string): StoredReservation | undefined {
    const row = this.#get.get(id);
    return row ? toReservation(row as Row) : undefined;
  }

  hold({ id, receipt, limits, part }: Reserved): void {
    const { amountMicro, expiresAt } = receipt;
    const json = toHeldLimitsJson({ part });
    const limitsJson = limits === undefined ? null : toLimitsJson(limits);
    this.#insert.run(
      ...toColumns(id, receipt),
      ...["hold", null, null, amountMicro, null, null, null, json, limitsJson, expiresAt],
    );
  }

  renew(id: string, { held, checkpoint, expiresAt, tags }: Renewal): void {
    this.#renew.run(held, checkpoint, expiresAt, toJson(tags), id);
  }

  /** Notes what a renewal has reported of the rates. */
  observe({ id, part }: StoredReservation, uses: readonly RateUse[]): void {
    this.#observe.run(toHeldLimitsJson({ part, uses }), id);
  }

  end({ id, receipt }: StoredReservation, end: ReservationEnd): void {
    const { hasColumns, values } = toEndColumns(receipt, end);
    this.#end.run(...values, id);
    if (!hasColumns) this.#clearWindows.run(id);
  }

  /** Writes a reservation of which nothing was known, and its end. */
  insertEnded({ id, receipt }: Reserved, end: ReservationEnd): void {
    const { hasColumns, values } = toEndColumns(receipt, end);
    this.#insert.run(...toColumns(id, receipt, hasColumns), ...values, null, receipt.expiresAt);
  }

  /**
   * The account's holds that have expired, in the order in which they died. It matters where one of them closes a session
   * that another would charge.
   */
  due(account: string, now: number): readonly StoredReservation[] {
    return this.#due
      .all(account, now)
      .map((row) => toReservation(row as Row))
      .sort(byExpiry);
  }

  /** Ends those holds. */
  expireDue(account: string, now: number): void {
    this.#expireDue.run(now, account, now);
  }

  /** Notes what prepaid credits have paid of a checkpoint. */
  pay(id: string, paid: Micro): void {
    this.#pay.run(paid, id);
  }

  /** Of one that has expired. It is kept as long as it gives signs of life. */
  raiseCheckpoint(id: string, { checkpoint, paid }: { checkpoint: Micro; paid: Micro }, now: number): void {
    this.#raise.run(now, checkpoint, paid, id);
  }

  /** When the first of the account's holds will expire. `null`: no call of the account is open. */
  nextExpiry(account: string): number | null {
    return toNumberOrNull((this.#nextExpiry.get(account) as { next: unknown }).next);
  }

  /**
   * Of the account's open calls that found prepaid credits: when the earliest was admitted; and of those admitted before
   * `end` the last one by its id. Ids say nothing of which call ends first: to look for another one only when that one has
   * ended is to look some seven times for a thousand calls.
   */
  foundPrepaid(account: string, end: number): { earliest: number | null; last: string | null } {
    const row = this.#foundPrepaid.get(end, account) as { earliest: unknown; last: string | null };
    return { earliest: toNumberOrNull(row.earliest), last: row.last };
  }
}

function byExpiry(left: StoredReservation, right: StoredReservation): number {
  return left.expiresAt - right.expiresAt || (left.id < right.id ? -1 : 1);
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
  readonly limits: string | null;
}

function toReservation(row: Row): StoredReservation {
  const { id, account, kind, tags, held_limits: json, limits } = row;
  const column = (name: string) => toNumber(row[name]);
  const amountMicro = column("reserved");
  const state = kind === "hold" || kind === "expired" ? kind : "ended";
  const { part, uses = noUses, windows } = json === null ? noLimits : parseHeldLimits(json);
  return {
    id,
    state,
    receipt: {
      account,
      amountMicro,
      expiresAt: column("lease_expires_at"),
      ...(windows ?? {
        starts: { session: column("session_start"), week: column("week_start"), month: column("month_start") },
        ends: { session: column("session_end"), week: column("week_end"), month: column("month_end") },
      }),
    },
    limits: limits === null ? undefined : parseLimits(limits),
    held: column("amount"),
    checkpoint: column("checkpoint"),
    // What is NULL is read as 0.
    paid: column("paid"),
    expiresAt: column("expires_at"),
    part: state === "hold" ? part : state === "expired" ? part && expiredPart(part) : undefined,
    uses,
    tags: tags === null || state === "ended" ? undefined : JSON.parse(tags),
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
function toEndColumns(receipt: Receipt, { kind, at, sequence, amount, prepaid, paid, tags }: ReservationEnd) {
  const hasColumns = fundingOf(amount, prepaid) !== "prepaid";
  const json = toHeldLimitsJson({ windows: hasColumns ? undefined : windowsOf(receipt) });
  return { hasColumns, values: [kind, at, sequence, amount, prepaid, paid, toJson(tags), json] as const };
}

function windowsOf({ starts, ends }: Receipt): RowOfHeldLimits["windows"] {
  return { starts, ends };
}
