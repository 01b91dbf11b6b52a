import { setImmediate } from "node:timers/promises";
import { requireKnownOptions } from "../../check/known-options.js";
import { type Clock, systemClock } from "../../ledger/calendar.js";
import type { TotalsRequest } from "../../ledger/usage/usage-request.js";
import { journalTagPrefix } from "../../prices/tags.js";
import { isFailedLine, type LinePath, type LineRange } from "../../request-log/check-request-query.js";
import { checkedRequestLog } from "../../request-log/checked-request-log.js";
import { CountSums, countedFaults } from "../../request-log/count-sums.js";
import {
  type CheckedLogLimits,
  checkLogLimits,
  knownLogLimits,
  type LoggedRequest,
  type RequestCounts,
  type RequestLog,
  type RequestLogLimits,
} from "../../request-log/request-log.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "./sqlite-connection.js";
import { type SqliteStatement, type SqliteValue, toNumber } from "./sqlite-database.js";

/** Options of {@link sqliteRequestLog}. `maxRows` is 1,000,000 unless it is given. */
export interface SqliteRequestLogOptions extends SqliteOptions, RequestLogLimits {
  /** Default: the process's clock. */
  clock?: Clock | undefined;
}

/**
 * Logs requests in a SQLite database.
 *
 * @throws RangeError when a limit or `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteRequestLog(options: SqliteRequestLogOptions): RequestLog {
  requireKnownOptions("sqliteRequestLog", options, { ...knownSqliteOptions, ...knownLogLimits, clock: true });
  return requestLogOf(new SqliteConnection(options), options, options.clock);
}

export function requestLogOf(
  connection: SqliteConnection,
  limits: RequestLogLimits | undefined,
  clock: Clock = systemClock,
): RequestLog {
  const checked = checkLogLimits(limits);
  const tables = new RequestTables(connection);
  return checkedRequestLog("sqliteRequestLog", {
    async write(lines) {
      await connection.write(() => {
        tables.add(lines);
        tables.trim(checked, lines.length, clock.now());
      });
    },
    read: async (range, most) => connection.read(() => tables.read(range, most)),
    get: async (requestId) => connection.read(() => tables.newest(requestId)),
    counts: (request) => requestCounts(connection, request),
    async forget(account) {
      while (await connection.write(() => tables.forget(account))) await setImmediate();
    },
  });
}

interface LineRow {
  readonly sequence: unknown;
  readonly line: string;
  readonly texts: string | null;
}

const rowsPerForgetting = 256;
const paths = ["tag", "account", "key", "error", "all"] as const;

/** The lines of a log, what leads to them, and what is counted. Whoever writes does it in a transaction. */
class RequestTables {
  readonly #insert: SqliteStatement;
  readonly #insertTag: SqliteStatement;
  readonly #insertCount: SqliteStatement;
  readonly #read: Readonly<Record<(typeof paths)[number], SqliteStatement>>;
  readonly #newest: SqliteStatement;
  readonly #tooMany: SqliteStatement;
  readonly #tooOld: SqliteStatement;
  readonly #ofAccount: SqliteStatement;
  readonly #delete: SqliteStatement;
  readonly #deleteTag: SqliteStatement;
  readonly #deleteCounts: readonly SqliteStatement[];
  readonly #deleteCountsOf: SqliteStatement;
  readonly #countOf: SqliteStatement;

  constructor(connection: SqliteConnection) {
    const prepare = (sql: string) => connection.prepare(sql);
    const place = "SELECT sequence, line, NULL AS texts FROM infergate_request WHERE";
    const counts = "infergate_request_count";
    this.#insert = prepare(`
      INSERT INTO infergate_request (at, line_id, request_id, account, key_id, is_error, line, texts)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING sequence`);
    this.#insertTag = prepare("INSERT INTO infergate_request_tag VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    this.#insertCount = prepare(`
      INSERT INTO ${counts} (minute, account, plan, model, target, key_id, tags, refusals, failures)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    const inRange = "at >= ? AND (at, line_id) < (?, ?) ORDER BY at DESC, line_id DESC LIMIT ?";
    this.#read = {
      tag: prepare(`
        SELECT sequence, line, NULL AS texts
        FROM (
          SELECT at, line_id FROM infergate_request_tag WHERE account = ? AND name = ? AND value = ? AND ${inRange}
        ) JOIN infergate_request USING (at, line_id) ORDER BY at DESC, line_id DESC`),
      account: prepare(`${place} account = ? AND ${inRange}`),
      key: prepare(`${place} key_id = ? AND ${inRange}`),
      error: prepare(`${place} is_error = 1 AND ${inRange}`),
      all: prepare(`${place} ${inRange}`),
    };
    this.#newest = prepare(`
      SELECT sequence, line, texts FROM infergate_request WHERE request_id = ? ORDER BY at DESC, line_id DESC LIMIT 1`);
    this.#tooMany = prepare(`
      ${place} sequence <= (SELECT max(sequence) FROM infergate_request) - ? ORDER BY sequence LIMIT ?`);
    this.#tooOld = prepare(`${place} at < ? ORDER BY at LIMIT ?`);
    this.#ofAccount = prepare(`${place} account = ? LIMIT ${rowsPerForgetting}`);
    this.#delete = prepare("DELETE FROM infergate_request WHERE sequence = ?");
    this.#deleteTag = prepare(`
      DELETE FROM infergate_request_tag WHERE account = ? AND name = ? AND value = ? AND at = ? AND line_id = ?`);
    const deleteSome = (which: string) =>
      prepare(`
      DELETE FROM ${counts} WHERE sequence IN (SELECT sequence FROM ${counts} WHERE ${which} LIMIT ?)`);
    this.#deleteCounts = [
      deleteSome(`sequence <= (SELECT max(sequence) FROM ${counts}) - ? ORDER BY sequence`),
      deleteSome("minute < ? ORDER BY minute"),
    ];
    this.#deleteCountsOf = deleteSome("account = ?");
    this.#countOf = prepare(`SELECT 1 FROM ${counts} WHERE account = ? LIMIT 1`);
  }

  add(lines: readonly LoggedRequest[]): void {
    for (const counted of countedFaults(lines.filter((line) => this.#addLine(line)))) {
      const { minute, account, plan, model, target, keyId, tags, refusals, failures } = counted;
      const json = tags === null ? null : JSON.stringify(tags);
      this.#insertCount.run(minute, account, plan, model, target, keyId, json, refusals, failures);
    }
  }

  /** Deletes some of what is beyond the limits: twice as many as were written, so that it comes to an end. */
  trim({ maxMs, maxRows, countMs }: CheckedLogLimits, written: number, now: number): void {
    const most = 2 * written + 16;
    this.#deleteAll(this.#tooMany.all(maxRows, most));
    this.#deleteAll(this.#tooOld.all(now - maxMs, most));
    const [tooMany, tooOld] = this.#deleteCounts;
    tooMany?.run(maxRows, most);
    tooOld?.run(now - countMs, most);
  }

  read({ path, from, below }: LineRange, most: number): LoggedRequest[] {
    const [name, ...values] = onPath(path);
    const rows = this.#read[name].all(...values, from, below.at, below.lineId, most);
    return (rows as LineRow[]).map(toLine);
  }

  newest(requestId: string): LoggedRequest | undefined {
    const row = this.#newest.get(requestId) as LineRow | null | undefined;
    return row ? toLine(row) : undefined;
  }

  /** Deletes some of an account. @returns whether there is more. */
  forget(account: string): boolean {
    const deleted = this.#deleteAll(this.#ofAccount.all(account));
    this.#deleteCountsOf.run(account, rowsPerForgetting);
    return deleted === rowsPerForgetting || Boolean(this.#countOf.get(account));
  }

  /** @returns whether it was not there. */
  #addLine(given: LoggedRequest): boolean {
    const { texts, ...line } = given;
    const { startedAt, lineId, requestId, account = null, keyId = null, tags = {} } = line;
    const error = isFailedLine(line) ? 1 : 0;
    const json = texts === undefined ? null : JSON.stringify(texts);
    const values = [startedAt, lineId, requestId, account, keyId, error, JSON.stringify(line), json] as const;
    if (this.#insert.all(...values).length === 0) return false;
    if (account === null) return true;
    for (const [name, value] of Object.entries(tags)) this.#insertTag.run(account, name, value, startedAt, lineId);
    return true;
  }

  #deleteAll(rows: readonly unknown[]): number {
    for (const row of rows as LineRow[]) {
      const { startedAt, lineId, account, tags = {} } = toLine(row);
      this.#delete.run(toNumber(row.sequence));
      if (account === undefined) continue;
      for (const [name, value] of Object.entries(tags)) this.#deleteTag.run(account, name, value, startedAt, lineId);
    }
    return rows.length;
  }
}

function onPath(path: LinePath): readonly [(typeof paths)[number], ...SqliteValue[]] {
  if ("account" in path && path.tag !== undefined) return ["tag", path.account as string, ...path.tag];
  if ("account" in path) return ["account", path.account as string];
  if ("keyId" in path) return ["key", path.keyId as string];
  return "isError" in path ? ["error"] : ["all"];
}

function toLine({ line, texts }: LineRow): LoggedRequest {
  const read = JSON.parse(line) as LoggedRequest;
  return texts === null ? read : { ...read, texts: JSON.parse(texts) };
}

interface CountRow {
  readonly minute: unknown;
  readonly account: string | null;
  readonly plan: string | null;
  readonly model: string | null;
  readonly target: string | null;
  readonly key_id: string | null;
  readonly tags: string | null;
  readonly refusals: unknown;
  readonly failures: unknown;
}

const table = "infergate_request_count";
const columns = ["account", "plan", "model", "target", "key_id", "tags"];
/** As many are some milliseconds. */
const rowsPerTurn = 20_000;

/** Adds up what was counted, a slice at a time, so that no other work waits for long. */
async function requestCounts(connection: SqliteConnection, request: TotalsRequest): Promise<readonly RequestCounts[]> {
  const { periods } = request;
  const sums = new CountSums(request);
  const [first, last] = [periods[0] as number, periods.at(-1) as number];
  const within = "(minute, sequence) > (?, ?) AND minute < ?";
  const ends = connection.prepare(`
    SELECT minute, sequence FROM ${table} WHERE ${within} ORDER BY minute, sequence LIMIT 1 OFFSET ${rowsPerTurn - 1}`);
  const slice = connection.prepare(sliceSql(request, `${within} AND (minute, sequence) <= (?, ?)`));
  let [minute, sequence] = [first, 0];
  for (;;) {
    const end = (await connection.read(() => ends.get(minute, sequence, last))) as Record<string, unknown> | undefined;
    const to = end ? [toNumber(end["minute"]), toNumber(end["sequence"])] : [last, Number.MAX_SAFE_INTEGER];
    const [toMinute = last, toSequence = 0] = to;
    const rows = await connection.read(() => slice.all(minute, sequence, last, toMinute, toSequence));
    for (const row of rows as CountRow[]) sums.add(toCounted(row));
    if (!end) return sums.list();
    [minute, sequence] = [toMinute, toSequence];
    await setImmediate();
  }
}

/** Adds up what is alike in the columns that are asked for, and by minutes if there are several periods. */
function sliceSql({ periods, by, where }: TotalsRequest, condition: string): string {
  const used = new Set([...by, ...Object.keys(where)].map(columnOf));
  const listed = columns.map((column) => (used.has(column) ? column : `NULL AS ${column}`)).join(", ");
  const group = [...(periods.length > 2 ? ["minute"] : []), ...columns.filter((column) => used.has(column))];
  return `
    SELECT min(minute) AS minute, ${listed}, sum(refusals) AS refusals, sum(failures) AS failures
    FROM ${table} WHERE ${condition} ${group.length > 0 ? `GROUP BY ${group.join(", ")}` : ""} HAVING count(*) > 0`;
}

function columnOf(name: string): string {
  if (name.startsWith(journalTagPrefix)) return "tags";
  return name === "key" ? "key_id" : name;
}

function toCounted({ minute, key_id: keyId, tags, refusals, failures, ...names }: CountRow) {
  return {
    ...names,
    keyId,
    minute: toNumber(minute),
    tags: tags === null ? null : JSON.parse(tags),
    refusals: toNumber(refusals),
    failures: toNumber(failures),
  };
}
