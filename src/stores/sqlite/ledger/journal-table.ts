import {
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
  type WindowName,
  windowNames,
} from "../../../ledger/credit-ledger.js";
import type { SideEntry } from "../../../ledger/engine/ledger-records.js";
import { areRare, isAsked } from "../../../ledger/journal.js";
import type { TopUpRequest } from "../../../ledger/limits.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, type SqliteValue, toNumber, toNumberOrNull } from "../sqlite-database.js";
import { toJson } from "./reservation-table.js";

/** An entry of any account. */
export interface AccountEntry {
  readonly account: string;
  readonly entry: LedgerEntry;
}

/** A place in the journal of all accounts. */
export type PlaceInTime = readonly [at: number, id: string, part: number];

const defaultPageLength = 100;
/** So many entries of all accounts are read in one step: some milliseconds of work. */
const entriesPerPage = 500;

const insert = `INSERT INTO infergate_entry (
  id, part, account, kind, at, sequence, amount, prepaid, session_start, week_start, month_start, tags, expires_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** What ends no reservation, in the words of its index: SQLite uses that for these words alone. */
export const isRare = "part <> 0";

/** Grants and changes of prepaid credits have parts of their own: their ids may be those of reservations too. */
const parts: Partial<Record<SideEntry["kind"], number>> = { grant: -1, topup: -2, deduction: -2 };

/** The entries of all accounts, in the order of their writing within each. */
export class JournalTable {
  readonly #insert: SqliteStatement;
  readonly #lastPart: SqliteStatement;
  readonly #part: SqliteStatement;
  readonly #page: SqliteStatement;
  readonly #pageOfKinds: SqliteStatement;
  readonly #pageOfRare: SqliteStatement;
  readonly #ofIdInAny: SqliteStatement;
  readonly #after: SqliteStatement;
  readonly #allAfter: SqliteStatement;

  constructor(connection: SqliteConnection) {
    this.#insert = connection.prepare(insert);
    this.#lastPart = connection.prepare("SELECT max(part) AS part FROM infergate_entry WHERE id = ? AND part > 0");
    this.#part = connection.prepare("SELECT * FROM infergate_entry WHERE id = ? AND part = ?");
    const page = (only = "", index = "infergate_entry_account") =>
      connection.prepare(`
        SELECT * FROM infergate_entry INDEXED BY ${index}
        WHERE account = ? AND at >= ? AND (at, sequence) < (?, ?) AND sequence IS NOT NULL ${only}
        ORDER BY at DESC, sequence DESC LIMIT ?`);
    const ofKinds = "AND kind IN (SELECT value FROM json_each(?))";
    this.#page = page();
    this.#pageOfKinds = page(ofKinds);
    this.#pageOfRare = page(`${ofKinds} AND ${isRare}`, "infergate_entry_rare");
    // By the primary key: SQLite would take the account's index.
    this.#ofIdInAny = connection.prepare(
      "SELECT * FROM infergate_entry WHERE id = ? AND +account = ? AND sequence IS NOT NULL",
    );
    this.#after = connection.prepare(
      "SELECT * FROM infergate_entry WHERE account = ? AND (at, sequence) > (?, ?) AND sequence IS NOT NULL",
    );
    this.#allAfter = connection.prepare(`
      SELECT * FROM infergate_entry INDEXED BY infergate_entry_at
      WHERE sequence IS NOT NULL AND (at, id, part) > (?, ?, ?) AND at < ? ORDER BY at, id, part LIMIT ?`);
  }

  write(account: string, sequence: number, entry: SideEntry): void {
    const { id, kind, at, amountMicro, prepaidMicro = null, starts, tags, expiresAt = null } = entry;
    const { session = null, week = null, month = null } = starts;
    const part = parts[kind] ?? this.#nextPart(id);
    const place = [id, part, account, kind, at, sequence] as const;
    this.#insert.run(...place, amountMicro, prepaidMicro, session, week, month, toJson(tags), expiresAt);
  }

  grant(id: string): Pick<GrantRequest, "account" | "window" | "amountMicro"> | undefined {
    const row = this.#part.get(id, -1);
    if (!row) return undefined;
    const { amountMicro, starts } = toEntry(row as Row);
    const window = windowNames.find((name) => starts[name] !== undefined) as WindowName;
    return { account: (row as Row).account, window, amountMicro };
  }

  /** A top-up, or a deduction: of a negative amount. */
  prepaidChange(id: string): Pick<TopUpRequest, "account" | "amountMicro" | "expiresAt"> | undefined {
    const row = this.#part.get(id, -2) as Row | null | undefined;
    if (!row) return undefined;
    const expiresAt = toNumberOrNull(row["expires_at"]) ?? undefined;
    return { account: row.account, amountMicro: toNumber(row["amount"]), expiresAt };
  }

  #nextPart(id: string): number {
    return toNumber((this.#lastPart.get(id) as { part: unknown }).part) + 1;
  }

  /** @throws LedgerInputError when the cursor is none of this journal's. */
  read(request: HistoryRequest): HistoryPage {
    const { account, from, to, cursor, limit = defaultPageLength } = request;
    const least = Number.MIN_SAFE_INTEGER;
    const end = [to ?? Number.MAX_SAFE_INTEGER, least] as const;
    const [at, sequence] = cursor === undefined ? end : earlier(parseCursor(cursor), end);
    const rows =
      request.id === undefined
        ? this.#rows([account, from ?? least, at, sequence], limit + 1, request)
        : this.#ofId(account, [at, sequence], request);
    const entries = rows.slice(0, limit).map(toEntry);
    const last = entries.at(-1);
    return rows.length > limit && last ? { entries, cursor: `${last.at}-${last.sequence}` } : { entries };
  }

  #rows(range: readonly SqliteValue[], most: number, { kinds }: HistoryRequest): readonly Row[] {
    if (kinds === undefined) return this.#page.all(...range, most) as Row[];
    const statement = areRare(kinds) ? this.#pageOfRare : this.#pageOfKinds;
    return statement.all(...range, JSON.stringify(kinds), most) as Row[];
  }

  /** The entries of an id: they are few. */
  #ofId(account: string, end: Place, request: HistoryRequest): readonly Row[] {
    const { id = "", from = Number.MIN_SAFE_INTEGER } = request;
    const isIn = (row: Row) => {
      const place = placeOf(row);
      return place[0] >= from && earlier(place, end) === place && isAsked(row, request);
    };
    const rows = (this.#ofIdInAny.all(id, account) as Row[]).filter(isIn);
    return rows.sort((one, other) => {
      const [[oneAt, oneSequence], [otherAt, otherSequence]] = [placeOf(one), placeOf(other)];
      return otherAt - oneAt || otherSequence - oneSequence;
    });
  }

  /** The entries after one, in any order. */
  after(account: string, { at, sequence }: Pick<LedgerEntry, "at"> & { sequence: number }): LedgerEntry[] {
    return (this.#after.all(account, at, sequence) as Row[]).map(toEntry);
  }

  /**
   * Entries of all accounts after a place and before a moment, in the order of their time.
   *
   * @returns with `next` where more may follow.
   */
  ofAll(
    after: PlaceInTime,
    before: number,
    limit = entriesPerPage,
  ): { entries: readonly AccountEntry[]; next: PlaceInTime | undefined } {
    const rows = this.#allAfter.all(...after, before, limit) as Row[];
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return {
      entries: rows.map((row) => ({ account: row.account, entry: toEntry(row) })),
      next: last && [toNumber(last["at"]), last.id, toNumber(last["part"])],
    };
  }
}

type Place = readonly [at: number, sequence: number];

function parseCursor(cursor: string): Place {
  const [, at, sequence] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  if (sequence === undefined) throw new LedgerInputError("cursor is of no page of history.");
  return [Number(at), Number(sequence)];
}

function placeOf(row: Row): Place {
  return [toNumber(row["at"]), toNumber(row["sequence"])];
}

function earlier(one: Place, other: Place): Place {
  return one[0] < other[0] || (one[0] === other[0] && one[1] < other[1]) ? one : other;
}

interface Row {
  readonly [column: string]: unknown;
  readonly id: string;
  readonly account: string;
  readonly kind: LedgerEntry["kind"];
  readonly tags: string | null;
}

function toEntry(row: Row): LedgerEntry {
  const { id, kind, tags } = row;
  const starts: Partial<Record<WindowName, number>> = {};
  for (const window of ["session", "week", "month"] as const) {
    const start = row[`${window}_start`];
    if (start !== null) starts[window] = toNumber(start);
  }
  const amountMicro = toNumber(row["amount"]);
  // What is NULL is read as 0.
  const prepaidMicro = toNumber(row["prepaid"]);
  return {
    sequence: String(row["sequence"]),
    id,
    kind,
    at: toNumber(row["at"]),
    amountMicro,
    ...(prepaidMicro !== 0 && { prepaidMicro }),
    starts,
    tags: tags === null ? {} : JSON.parse(tags),
  };
}
