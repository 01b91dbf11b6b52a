import { checkedRequestLog } from "../../books/requests/checked-request-log.js";
import { CountSums } from "../../books/requests/count-sums.js";
import type { CountedFaults } from "../../books/requests/counted-faults.js";
import type { RequestLog } from "../../books/requests/request-log.js";
import { checkLogLimits, knownLogLimits, type RequestLogLimits } from "../../books/requests/request-log-limits.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "../redis-options.js";
import { requestScripts as scripts } from "./request-scripts.js";
import { fromMember, fromStoredLine, labelOf, labelOfId, momentText, placeText, toStoredLine } from "./stored-line.js";

/** Options of {@link redisRequestLog}. `maxRows` is 50,000 unless it is given. */
export interface RedisRequestLogOptions extends RedisOptions, RequestLogLimits {}

const usualRows = 50_000;
/** As many in one script keep no other client waiting. */
const linesPerScript = 50;
const countsPerScript = 500;

/**
 * Logs requests in Redis, all of them in one slot of a cluster. A line takes about two kilobytes of memory there.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisRequestLog(options: RedisRequestLogOptions): RequestLog {
  requireKnownOptions("redisRequestLog", options, { ...knownRedisOptions, ...knownLogLimits });
  return requestLogOn(connectionOf(options), options);
}

/** The same on a connection that is shared with other stores. */
export function requestLogOn(
  { run, prefix }: Pick<RedisConnection, "run" | "prefix">,
  limits: RequestLogLimits | undefined,
): RequestLog {
  const { maxMs, maxRows, countMs } = checkLogLimits(limits, usualRows);
  const keys = ["index", "lines", "texts", "counts"].map((name) => `${prefix}:{requests}:${name}`);

  /** Of these minutes, some at a time. */
  async function* counted(from: number, to: number): AsyncGenerator<[string, CountedFaults]> {
    const end = `(c:${momentText(to)}`;
    for (let after = `[c:${momentText(from)}`; ; ) {
      const found = ((await run(scripts.readCounts, keys, [after, end, countsPerScript])) as unknown[]).map(String);
      for (let at = 0; at < found.length; at += 3) {
        const member = found[at] as string;
        yield [member, fromMember(member, found[at + 1], found[at + 2])];
        after = `(${member}`;
      }
      if (found.length < 3 * countsPerScript) return;
    }
  }

  return checkedRequestLog("redisRequestLog", {
    async write(lines) {
      for (let at = 0; at < lines.length; at += linesPerScript) {
        const some = lines.slice(at, at + linesPerScript);
        const oldest = [momentText(Date.now() - maxMs), momentText(Date.now() - countMs)];
        const args = [maxRows, ...oldest, 2 * some.length + 16, ...some.flatMap(toStoredLine)];
        await run(scripts.write, keys, args);
      }
    },
    async read({ path, from, below }, most) {
      const label = labelOf(path);
      const args = [label + momentText(from), label + placeText(below), most, label.length];
      return ((await run(scripts.read, keys, args)) as unknown[]).flatMap(fromStoredLine);
    },
    async get(requestId) {
      const label = labelOfId(requestId);
      const args = [label, `${label.slice(0, -1)};`, label.length];
      const [entry = "", texts = ""] = (await run(scripts.get, keys, args)) as unknown[];
      const [line] = fromStoredLine(entry);
      return line && { ...line, ...(texts !== "" && { texts: JSON.parse(String(texts)) }) };
    },
    async counts(request) {
      const { periods } = request;
      const sums = new CountSums(request);
      for await (const [, each] of counted(periods[0] as number, periods.at(-1) as number)) sums.add(each);
      return sums.list();
    },
    async forget(account) {
      const label = labelOf({ account });
      const args = [label, `${label.slice(0, -1)};`, linesPerScript, label.length];
      while (Number(await run(scripts.forget, keys, args)) === linesPerScript);
      let members: string[] = [];
      for await (const [member, each] of counted(0, Number.MAX_SAFE_INTEGER)) {
        if (each.account !== account) continue;
        members.push(member);
        if (members.length === countsPerScript) {
          await run(scripts.forgetCounts, keys, members);
          members = [];
        }
      }
      await run(scripts.forgetCounts, keys, members);
    },
  });
}
