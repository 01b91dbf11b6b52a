import { InputError } from "../check/check-input.js";
import { idProblem } from "../check/id-problem.js";
import { nextTurn } from "../ledger/promised.js";
import type { TotalsRequest } from "../ledger/usage/usage-request.js";
import {
  type CheckedRequestQuery,
  checkRequestQuery,
  type LineRange,
  linePlace,
  toCursor,
} from "./check-request-query.js";
import type { LoggedRequest, RequestCounts, RequestLog, RequestPage } from "./request-log.js";

/** A store that leaves queries to {@link checkedRequestLog}. */
export interface UncheckedRequestLog {
  write(lines: readonly LoggedRequest[]): Promise<void>;
  /** So many of the range at most, without their texts, the newest first: fewer only where there are no more. */
  read(range: LineRange, most: number): Promise<readonly LoggedRequest[]>;
  get(requestId: string): Promise<LoggedRequest | undefined>;
  counts(request: TotalsRequest): Promise<readonly RequestCounts[]>;
  forget(account: string): Promise<void>;
}

const mostWritten = 1_000;
/** So many lines are read for a page at most, and in one step. */
const mostRead = 5_000;
const readAtOnce = 500;
const lineIdPattern = /^[\w-]{1,64}$/;

/** The log behind a check, with its pages. What is not valid throws a TypeError that begins with `by`. */
export function checkedRequestLog(by: string, store: UncheckedRequestLog): RequestLog {
  return {
    async write(lines) {
      if (lines.length > mostWritten) throw new InputError(`${by}.write: must get at most ${mostWritten} lines.`);
      for (const line of lines) {
        const problem = problemOf(line);
        if (problem !== undefined) throw new InputError(`${by}.write: a line is not valid: ${problem}.`);
      }
      if (lines.length > 0) await store.write(lines);
    },
    list: async (query = {}) => readPage(store, checkRequestQuery(`${by}.list`, query)),
    get: async (requestId) => (idProblem(requestId) === undefined ? store.get(requestId) : undefined),
    counts: (request) => store.counts(request),
    async forget(account) {
      if (idProblem(account) === undefined) await store.forget(account);
    },
  };
}

async function readPage(
  store: UncheckedRequestLog,
  { range, limit, matches }: CheckedRequestQuery,
): Promise<RequestPage> {
  const requests: LoggedRequest[] = [];
  let { below } = range;
  for (let read = 0; ; ) {
    const most = matches === undefined ? limit + 1 : readAtOnce;
    const lines = await store.read({ ...range, below }, most);
    for (const line of lines) {
      if (matches?.(line) === false) continue;
      const last = requests.at(-1);
      if (requests.length === limit && last !== undefined) return { requests, cursor: toCursor(linePlace(last)) };
      requests.push(line);
    }
    const last = lines.at(-1);
    if (lines.length < most || last === undefined) return { requests };
    below = linePlace(last);
    read += most;
    if (read >= mostRead) return { requests, cursor: toCursor(below) };
    await nextTurn();
  }
}

/** What stores compare and index. */
function problemOf(line: LoggedRequest): string | undefined {
  if (!lineIdPattern.test(line.lineId)) return "lineId must be 1 to 64 letters, digits, _ and -";
  if (!Number.isSafeInteger(line.startedAt)) return "startedAt must be whole milliseconds";
  if (!Number.isSafeInteger(line.count ?? 1) || (line.count ?? 1) < 1) return "count must be a whole number from 1 on";
  for (const name of ["requestId", "account", "keyId", "plan", "model", "requestedModel"] as const) {
    const problem = line[name] === undefined ? undefined : idProblem(line[name]);
    if (problem !== undefined) return `${name} ${problem}`;
  }
  for (const [name, value] of Object.entries(line.tags ?? {})) {
    const problem = idProblem(name) ?? idProblem(value);
    if (problem !== undefined) return `the tag ${JSON.stringify(name.slice(0, 64))} ${problem}`;
  }
  return undefined;
}
