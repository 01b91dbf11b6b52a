import { dayMs } from "../../../ledger/calendar.js";
import type { NamedRecords } from "../../../ledger/engine/ledger-records.js";
import type { AccountLimits, HeldLimits } from "../../../ledger/rules/account-limits.js";
import { type Bucket, isIdle } from "../../../ledger/rules/rates.js";
import { newInstance, type WindowInstance } from "../../../ledger/rules/windows.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { type SqliteStatement, toNumber } from "../sqlite-database.js";

const rowsPerPurge = 128;
/** How long caps outlive their end. Should the clock have run ahead, setting it right must not refill them. */
const keepMs = dayMs;

/** A row of a cap or bucket, as the purge finds it. */
interface Row {
  readonly [column: string]: unknown;
  readonly account: string;
  readonly id: string;
}

/** Where a round over all rows has come to. */
type Place = Pick<Row, "account" | "id">;

const beginning: Place = { account: "", id: "" };

/** The caps and buckets of accounts. Only what is named is read and written. */
export class LimitTables {
  readonly #getCap: SqliteStatement;
  readonly #putCap: SqliteStatement;
  readonly #deleteCap: SqliteStatement;
  readonly #capsAfter: SqliteStatement;
  readonly #getBucket: SqliteStatement;
  readonly #putBucket: SqliteStatement;
  readonly #deleteBucket: SqliteStatement;
  readonly #bucketsAfter: SqliteStatement;
  readonly #forgets: readonly SqliteStatement[];
  #lastCap = beginning;
  #lastBucket = beginning;

  constructor(connection: SqliteConnection) {
    const prepare = (sql: string) => connection.prepare(sql);
    const after = `WHERE (account, id) > (?, ?) ORDER BY account, id LIMIT ${rowsPerPurge}`;
    this.#getCap = prepare("SELECT * FROM infergate_cap WHERE account = ? AND id = ?");
    this.#putCap = prepare(
      "REPLACE INTO infergate_cap (account, id, starts_at, ends_at, used, held) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#deleteCap = prepare("DELETE FROM infergate_cap WHERE account = ? AND id = ?");
    this.#capsAfter = prepare(`SELECT * FROM infergate_cap ${after}`);
    this.#getBucket = prepare("SELECT * FROM infergate_bucket WHERE account = ? AND id = ?");
    this.#putBucket = prepare(
      "REPLACE INTO infergate_bucket (account, id, level, at, held, rate_limit, burst) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#deleteBucket = prepare("DELETE FROM infergate_bucket WHERE account = ? AND id = ?");
    this.#bucketsAfter = prepare(`SELECT * FROM infergate_bucket ${after}`);
    this.#forgets = ["cap", "bucket"].map((table) => prepare(`DELETE FROM infergate_${table} WHERE account = ?`));
  }

  /** Reads what the account does not have yet of the named ones. */
  load(account: string, limits: AccountLimits, { caps = [], rates = [] }: NamedRecords): void {
    for (const { id } of caps) {
      if (limits.caps.has(id)) continue;
      const row = this.#getCap.get(account, id) as Row | null | undefined;
      if (row) limits.caps.set(id, toCap(row));
    }
    for (const { id } of rates) {
      if (limits.buckets.has(id)) continue;
      const row = this.#getBucket.get(account, id) as Row | null | undefined;
      if (row) limits.buckets.set(id, toBucket(row));
    }
  }

  /** Writes what a reservation's part has touched. */
  put(account: string, limits: AccountLimits, { caps, takes }: HeldLimits): void {
    for (const { id } of caps) {
      const cap = limits.caps.get(id);
      if (cap === undefined) this.#deleteCap.run(account, id);
      else this.#putCap.run(account, id, cap.start, cap.end, cap.used, cap.held);
    }
    for (const { id } of takes) {
      const bucket = limits.buckets.get(id);
      if (bucket === undefined) continue;
      const { level, at, held, limit, burst } = bucket;
      this.#putBucket.run(account, id, level, at, held, limit, burst);
    }
  }

  forget(account: string): void {
    for (const statement of this.#forgets) statement.run(account);
  }

  /** Deletes what is as good as unknown among the next rows of a round over all. */
  purge(now: number): void {
    this.#lastCap = purgeAfter(this.#lastCap, this.#capsAfter, this.#deleteCap, (row) => {
      const { held, end } = toCap(row);
      return end + keepMs <= now && held === 0;
    });
    this.#lastBucket = purgeAfter(this.#lastBucket, this.#bucketsAfter, this.#deleteBucket, (row) =>
      isIdle(toBucket(row), now),
    );
  }
}

/** @returns where to go on. */
function purgeAfter(
  place: Place,
  after: SqliteStatement,
  remove: SqliteStatement,
  isOver: (row: Row) => boolean,
): Place {
  const rows = after.all(place.account, place.id) as Row[];
  for (const row of rows) if (isOver(row)) remove.run(row.account, row.id);
  return (rows.length === rowsPerPurge && rows.at(-1)) || beginning;
}

function toCap(row: Row): WindowInstance {
  const cap = newInstance(toNumber(row["starts_at"]), toNumber(row["ends_at"]));
  cap.used = toNumber(row["used"]);
  cap.held = toNumber(row["held"]);
  return cap;
}

function toBucket(row: Row): Bucket {
  return {
    level: toNumber(row["level"]),
    at: toNumber(row["at"]),
    held: toNumber(row["held"]),
    limit: toNumber(row["rate_limit"]),
    burst: toNumber(row["burst"]),
  };
}
