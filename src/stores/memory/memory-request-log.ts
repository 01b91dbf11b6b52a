import { requireKnownOptions } from "../../check/known-options.js";
import { type Clock, systemClock } from "../../ledger/calendar.js";
import { nextTurn } from "../../ledger/promised.js";
import { isBelow, isInRange, type LinePlace, linePlace } from "../../request-log/check-request-query.js";
import { checkedRequestLog } from "../../request-log/checked-request-log.js";
import { type CountedFaults, CountSums, countedFaults } from "../../request-log/count-sums.js";
import {
  checkLogLimits,
  knownLogLimits,
  type LoggedRequest,
  type RequestLog,
  type RequestLogLimits,
} from "../../request-log/request-log.js";

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

/** A copy of a record, as `structuredClone` makes it, in a fifth of the time: a store makes one for each lookup. */
export function copyRecord<Value>(value: Value): Value {
  const isData = typeof value !== "object" && typeof value !== "function";
  if (isData || value === null) return value;
  if (Array.isArray(value)) return value.map(copyRecord) as Value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return structuredClone(value);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = copyRecord((value as Record<string, unknown>)[name]);
    // To assign this one would set the prototype.
    if (name === "__proto__") Object.defineProperty(copy, name, { ...writable, value: member });
    else copy[name] = member;
  }
  return copy as Value;
}

const writable = { writable: true, enumerable: true, configurable: true };
