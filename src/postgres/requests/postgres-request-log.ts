import { checkedRequestLog } from "../../books/requests/checked-request-log.js";
import { CountSums } from "../../books/requests/count-sums.js";
import { faultOf } from "../../books/requests/counted-faults.js";
import { isFailedLine, type LinePath } from "../../books/requests/line-range.js";
import type { LoggedRequest } from "../../books/requests/logged-request.js";
import type { RequestLog } from "../../books/requests/request-log.js";
import { checkLogLimits, knownLogLimits, type RequestLogLimits } from "../../books/requests/request-log-limits.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { Database, knownPostgresOptions, type PostgresOptions } from "../database.js";
import { countsQuery, type StoredCounts, toRequestCounts } from "./counts-query.js";
import { forgetRequestsSql, getSql, readSql, trimSql, writeSql } from "./request-sql.js";

/** Options of {@link postgresRequestLog}. `maxRows` is 1,000,000 unless it is given. */
export interface PostgresRequestLogOptions extends PostgresOptions, RequestLogLimits {}

const rowsPerForgetting = 500;

/**
 * Logs requests in PostgreSQL. A batch is one statement, and what is beyond the limits goes with another one, some rows at a
 * time. The database's clock is the only one.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function postgresRequestLog(options: PostgresRequestLogOptions): RequestLog {
  requireKnownOptions("postgresRequestLog", options, { ...knownPostgresOptions, ...knownLogLimits });
  return databaseRequestLog(new Database(options), options);
}

/** @throws RangeError when a limit is out of range. */
export function databaseRequestLog(database: Database, limits: RequestLogLimits | undefined): RequestLog {
  const { maxMs, maxRows, countMs } = checkLogLimits(limits);
  return checkedRequestLog("postgresRequestLog", {
    async write(lines) {
      await database.query(writeSql, [JSON.stringify(lines.map(toStored))]);
      await database.query(trimSql, [maxRows, maxMs, countMs, 2 * lines.length + 16]);
    },
    async read({ path, from, below }, most) {
      const [name, ...values] = onPath(path);
      return database.query<LoggedRequest>(readSql[name], [...values, from, below.at, below.lineId, most]);
    },
    async get(requestId) {
      const [found] = await database.query<[string, string | null]>(getSql, [requestId]);
      if (found === undefined) return undefined;
      const [line, texts] = found;
      return { ...JSON.parse(line), ...(texts !== null && { texts: JSON.parse(texts) }) };
    },
    async counts(request) {
      const { sql, values } = countsQuery(request);
      const sums = new CountSums(request);
      for (const row of await database.query<StoredCounts>(sql, values)) sums.addSum(toRequestCounts(row, request));
      return sums.list();
    },
    async forget(account) {
      for (let more = true; more; ) {
        more = (await database.query<boolean>(forgetRequestsSql, [account, rowsPerForgetting]))[0] === true;
      }
    },
  });
}

function toStored(given: LoggedRequest): object {
  const { texts, ...line } = given;
  const { startedAt: at, lineId, requestId, account, keyId, plan, model, target, tags } = line;
  const [fault, count] = [faultOf(line), line.count ?? 1];
  return {
    ...{ at, lineId, requestId, account, keyId, plan, model, target, tags },
    isError: isFailedLine(line),
    line: JSON.stringify(line),
    ...(texts !== undefined && { texts: JSON.stringify(texts) }),
    refusals: fault === "refusal" ? count : 0,
    failures: fault === "failure" ? count : 0,
  };
}

function onPath(path: LinePath): readonly [keyof typeof readSql, ...string[]] {
  if ("account" in path && path.tag !== undefined) return ["tag", path.account as string, ...path.tag];
  if ("account" in path) return ["account", path.account as string];
  if ("keyId" in path) return ["key", path.keyId as string];
  return "isError" in path ? ["error"] : ["all"];
}
