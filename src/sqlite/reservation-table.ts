import type { EntryTags } from "../ledger/credit-ledger.js";
import { expiredPart, type HeldLimits } from "../ledger/limits/held-limits.js";
import { noUses } from "../ledger/limits/no-uses.js";
import type { RateUse } from "../ledger/rate-limit.js";
import type { Receipt } from "../ledger/receipt.js";
import type { Micro } from "../metering/micro.js";
import { type ParsedHeldLimits, parseHeldLimits, toHeldLimitsJson } from "./limits/held-limits-json.js";
import { toNumber, toNumberOrNull } from "./numbers.js";
import type { SqliteConnection } from "./sqlite-connection.js";
import type { SqliteStatement } from "./sqlite-database.js";

/** A reservation: open, died unsettled, or ended. */
export interface StoredReservation {
  readonly id: string;
  readonly state: "hold" | "expired" | "ended";
  readonly receipt: Receipt;
  /** What is held while it is open: the amount reserved, or the cost seen where that is more. */
  readonly held: Micro;
  /** The cost seen so far, which the expiry charges. */
  readonly checkpoint: Micro;
  readonly expiresAt: number;
  /** What it holds beside the windows, or in their place. Of one that has ended only what its lease needs. */
  readonly part: HeldLimits | undefined;
  /** What its renewals have reported of its rates. */
  readonly uses: readonly RateUse[];
}

/** What identifies a reservation, and what it holds. */
export type Reserved = Pick<StoredReservation, "id" | "receipt" | "part">;

/** How a reservation has ended, as it enters the journal. */
export interface ReservationEnd {
  readonly kind: "charge" | "release";
  readonly at: number;
  readonly sequence: number;
  readonly amount: Micro;
  readonly tags: EntryTags | undefined;
}

const noLimits: ParsedHeldLimits = Object.freeze({});
const noWindows = [null, null, null, null, null, null] as const;

const insert = `INSERT INTO infergate_entry (
  id, account, session_start, session_end, week_start, week_end, month_start, month_end, reserved, lease_expires_at,
  kind, at, sequence, amount, tags, expires_at, checkpoint, held_limits, part
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`;

export class ReservationTable {
  readonly #get: SqliteStatement;
  readonly #insert: SqliteStatement;
  readonly #renew: SqliteStatement;
  readonly #observe: SqliteStatement;
  readonly #end: SqliteStatement;
  readonly #due: SqliteStatement;
  readonly #expireDue: SqliteStatement;
  readonly #expire: SqliteStatement;
  readonly #nextExpiry: SqliteStatement;

  constructor(connection: SqliteConnection) {
    const prepare = (sql: string) => connection.prepare(sql);
    const ofHolds = "account = ? AND at IS NULL";
    this.#get = prepare("SELECT * FROM infergate_entry WHERE id = ? AND part = 0");
    this.#insert = prepare(insert);
    this.#renew = prepare(
      "UPDATE infergate_entry SET amount = ?, checkpoint = ?, expires_at = ? WHERE id = ? AND part = 0",
    );
    this.#observe = prepare("UPDATE infergate_entry SET held_limits = ? WHERE id = ? AND part = 0");
    this.#end = prepare(`
      UPDATE infergate_entry SET kind = ?, at = ?, sequence = ?, amount = ?, tags = ?, held_limits = ?
      WHERE id = ? AND part = 0`);
    this.#due = prepare(`SELECT * FROM infergate_entry WHERE ${ofHolds} AND expires_at <= ?`);
    this.#expireDue = prepare(
      `UPDATE infergate_entry SET kind = 'expired', at = ? WHERE ${ofHolds} AND expires_at <= ?`,
    );
    this.#expire = prepare("UPDATE infergate_entry SET at = ?, checkpoint = ? WHERE id = ? AND part = 0");
    this.#nextExpiry = prepare(`SELECT min(expires_at) AS next FROM infergate_entry WHERE ${ofHolds}`);
  }

  get(id: string): StoredReservation | undefined {
    const row = this.#get.get(id);
    return row ? toReservation(row as Row) : undefined;
  }

  hold(reserved: Reserved): void {
    const { amountMicro, expiresAt } = reserved.receipt;
    const limits = toHeldLimitsJson(reserved);
    this.#insert.run(...toColumns(reserved), "hold", null, null, amountMicro, null, expiresAt, 0, limits);
  }

  renew(id: string, held: Micro, checkpoint: Micro, expiresAt: number): void {
    this.#renew.run(held, checkpoint, expiresAt, id);
  }

  /** Notes what a renewal has reported of the rates. */
  observe(reserved: Reserved, uses: readonly RateUse[]): void {
    this.#observe.run(toHeldLimitsJson(reserved, uses), reserved.id);
  }

  end(reserved: Reserved, { kind, at, sequence, amount, tags }: ReservationEnd): void {
    this.#end.run(kind, at, sequence, amount, toJson(tags), toHeldLimitsJson(endedOf(reserved)), reserved.id);
  }

  /** Writes a reservation of which nothing was known, and its end. */
  insertEnded(reserved: Reserved, { kind, at, sequence, amount, tags }: ReservationEnd): void {
    const { expiresAt } = reserved.receipt;
    const limits = toHeldLimitsJson(endedOf(reserved));
    this.#insert.run(...toColumns(reserved), kind, at, sequence, amount, toJson(tags), expiresAt, 0, limits);
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

  /** Of one that has expired. It is kept as long as it gives signs of life. */
  raiseCheckpoint(id: string, checkpoint: Micro, now: number): void {
    this.#expire.run(now, checkpoint, id);
  }

  /** When the first of the account's holds will expire. */
  nextExpiry(account: string): number | null {
    return toNumberOrNull((this.#nextExpiry.get(account) as { next: unknown }).next);
  }
}

function byExpiry(left: StoredReservation, right: StoredReservation): number {
  return left.expiresAt - right.expiresAt || (left.id < right.id ? -1 : 1);
}

export function toJson(tags: EntryTags | undefined): string | null {
  return tags === undefined ? null : JSON.stringify(tags);
}

/** What is kept of a reservation that has ended: who funded it, for its windows. */
function endedOf({ id, receipt, part }: Reserved): Reserved {
  const isPrepaid = part?.prepaidAt !== undefined;
  return { id, receipt, part: isPrepaid ? { ...part, caps: [], takes: [] } : undefined };
}

interface Row {
  readonly [column: string]: unknown;
  readonly id: string;
  readonly account: string;
  readonly kind: string;
  readonly held_limits: string | null;
}

function toReservation(row: Row): StoredReservation {
  const { id, account, kind } = row;
  const column = (name: string) => toNumber(row[name]);
  const { part, uses = noUses, windows } = row.held_limits === null ? noLimits : parseHeldLimits(row.held_limits);
  return {
    id,
    state: kind === "hold" || kind === "expired" ? kind : "ended",
    receipt: {
      account,
      amountMicro: column("reserved"),
      expiresAt: column("lease_expires_at"),
      ...(windows ?? {
        starts: { session: column("session_start"), week: column("week_start"), month: column("month_start") },
        ends: { session: column("session_end"), week: column("week_end"), month: column("month_end") },
      }),
    },
    held: column("amount"),
    checkpoint: column("checkpoint"),
    expiresAt: column("expires_at"),
    part: part && kind === "expired" ? expiredPart(part) : part,
    uses,
  };
}

function toColumns({ id, receipt, part }: Reserved) {
  const { account, amountMicro, expiresAt } = receipt;
  return [id, account, ...toWindowColumns(receipt, part), amountMicro, expiresAt] as const;
}

/** What prepaid credits fund counts in no window: not in the journal, and not in an older release either. */
function toWindowColumns({ starts, ends }: Receipt, part: HeldLimits | undefined) {
  if (part?.prepaidAt !== undefined) return noWindows;
  return [starts.session, ends.session, starts.week, ends.week, starts.month, ends.month] as const;
}
