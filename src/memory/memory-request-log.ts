import { checkedRequestLog } from "../books/requests/checked-request-log.js";
import { CountSums } from "../books/requests/count-sums.js";
import { type CountedFaults, countedFaults } from "../books/requests/counted-faults.js";
import { isBelow, isInRange, type LinePlace, linePlace } from "../books/requests/line-range.js";
import type { LoggedRequest } from "../books/requests/logged-request.js";
import type { RequestLog } from "../books/requests/request-log.js";
import { checkLogLimits, knownLogLimits, type RequestLogLimits } from "../books/requests/request-log-limits.js";
import { requireKnownOptions } from "../check/known-options.js";
import { type Clock, systemClock } from "../ledger/clock.js";
import { nextTurn } from "../ledger/journal/next-turn.js";
import { copyRecord } from "./copy-record.js";

/** Options of {@link memoryRequestLog}. `maxRows` is 10,000 unless it is given. */
export interface MemoryRequestLogOptions extends RequestLogLimits {
  /** Default: the process's clock. */
  clock?: Clock | undefined;
}

const usualRows = 10_000;
const countsPerTurn = 10_000;

/**
 * Logs requests in this process, until it ends. A line takes a kilobyte or so.
 * @throws RangeError when a limit is out of range.
 */
export function memoryRequestLog(options: MemoryRequestLogOptions = {}): RequestLog {
  requireKnownOptions("memoryRequestLog", options, { ...knownLogLimits, clock: true });
  const { clock = systemClock, ...limits } = options;
  const { maxMs, maxRows, countMs } = checkLogLimits(limits, usualRows);
  /** In the order of their places. */
  let lines: LoggedRequest[] = [];
  /** In the order in which they came. */
  let counted: CountedFaults[] = [];

  function add(line: LoggedRequest): boolean {
    const index = firstNotBelow(lines, linePlace(line));
    const known = lines[index];
    if (known?.startedAt === line.startedAt && known.lineId === line.lineId) return false;
    lines.splice(index, 0, copyRecord(line));
    return true;
  }

  function trim(): void {
    const oldest = firstNotBelow(lines, { at: clock.now() - maxMs, lineId: "" });
    lines.splice(0, Math.max(oldest, lines.length - maxRows));
    const isOld = ({ minute }: CountedFaults) => minute < clock.now() - countMs;
    const kept = counted.findIndex((each) => !isOld(each));
    counted.splice(0, Math.max(kept < 0 ? counted.length : kept, counted.length - maxRows));
  }

  return checkedRequestLog("memoryRequestLog", {
    async write(given) {
      counted.push(...countedFaults(given.filter(add)));
      trim();
    },
    async read(range, most) {
      trim();
      const found: LoggedRequest[] = [];
      for (let index = firstNotBelow(lines, range.below) - 1; index >= 0 && found.length < most; index--) {
        const line = lines[index] as LoggedRequest;
        if (line.startedAt < range.from) break;
        const { texts, ...rest } = line;
        if (isInRange(line, range)) found.push(copyRecord(rest));
      }
      return found;
    },
    async get(requestId) {
      trim();
      return copyRecord(lines.findLast((line) => line.requestId === requestId));
    },
    async counts(request) {
      trim();
      const sums = new CountSums(request);
      for (const [place, each] of [...counted].entries()) {
        sums.add(each);
        if (place % countsPerTurn === countsPerTurn - 1) await nextTurn();
      }
      return sums.list();
    },
    async forget(account) {
      lines = lines.filter((line) => line.account !== account);
      counted = counted.filter((each) => each.account !== account);
    },
  });
}

/** The index of the first line that does not stand below the place, by bisection. */
function firstNotBelow(lines: readonly LoggedRequest[], place: LinePlace): number {
  let [from, to] = [0, lines.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isBelow(linePlace(lines[middle] as LoggedRequest), place)) from = middle + 1;
    else to = middle;
  }
  return from;
}
