import { setImmediate } from "node:timers/promises";
import { checkedRequestLog } from "../../books/requests/checked-request-log.js";
import type { RequestLog } from "../../books/requests/request-log.js";
import { checkLogLimits, knownLogLimits, type RequestLogLimits } from "../../books/requests/request-log-limits.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { type Clock, systemClock } from "../../ledger/clock.js";
import { knownSqliteOptions, SqliteConnection, type SqliteOptions } from "../sqlite-connection.js";
import { requestCounts } from "./request-counts.js";
import { RequestTables } from "./request-tables.js";

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
