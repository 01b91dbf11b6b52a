import { requireKnownOptions } from "../../check/known-options.js";
import { isFailedLine, type LinePath, type LinePlace, linePlace } from "../../request-log/check-request-query.js";
import { checkedRequestLog } from "../../request-log/checked-request-log.js";
import { type CountedFaults, CountSums, countedFaults } from "../../request-log/count-sums.js";
import {
  checkLogLimits,
  knownLogLimits,
  type LoggedRequest,
  type RequestLog,
  type RequestLogLimits,
} from "../../request-log/request-log.js";
import { digest } from "./account-keys.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "./redis-connection.js";
import { makeScript } from "./script.js";

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
      const found = ((await run(requestScripts.readCounts, keys, [after, end, countsPerScript])) as unknown[]).map(
        String,
      );
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
        await run(requestScripts.write, keys, args);
      }
    },
    async read({ path, from, below }, most) {
      const label = labelOf(path);
      const args = [label + momentText(from), label + placeText(below), most, label.length];
      return ((await run(requestScripts.read, keys, args)) as unknown[]).flatMap(fromStoredLine);
    },
    async get(requestId) {
      const label = labelOfId(requestId);
      const args = [label, `${label.slice(0, -1)};`, label.length];
      const [entry = "", texts = ""] = (await run(requestScripts.get, keys, args)) as unknown[];
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
      while (Number(await run(requestScripts.forget, keys, args)) === linesPerScript);
      let members: string[] = [];
      for await (const [member, each] of counted(0, Number.MAX_SAFE_INTEGER)) {
        if (each.account !== account) continue;
        members.push(member);
        if (members.length === countsPerScript) {
          await run(requestScripts.forgetCounts, keys, members);
          members = [];
        }
      }
      await run(requestScripts.forgetCounts, keys, members);
    },
  });
}

/** What leads to the lines of a path. No label is the beginning of another one. */
function labelOf(path: LinePath): string {
  if ("account" in path) {
    const { account, tag } = path as { account: string; tag?: readonly [string, string] };
    return tag === undefined ? `a:${digest(account)}:` : `t:${digest(JSON.stringify([account, ...tag]))}:`;
  }
  if ("keyId" in path) return `k:${digest(path.keyId as string)}:`;
  return "isError" in path ? "e:" : "o:";
}

function labelOfId(requestId: string): string {
  return `i:${digest(requestId)}:`;
}

/** Its bytes are in the order of the places. */
function placeText({ at, lineId }: LinePlace): string {
  return `${momentText(at)}:${lineId}`;
}

/** Moments before 1970 count as 1970. */
function momentText(at: number): string {
  return String(Math.max(0, at)).padStart(16, "0");
}

/** A line as the script takes it. */
function toStoredLine(given: LoggedRequest): (string | number)[] {
  const { texts, ...line } = given;
  const { account, keyId, tags = {} } = line;
  const place = placeText(linePlace(line));
  const labels = [labelOf({}), labelOfId(line.requestId)];
  if (isFailedLine(line)) labels.push(labelOf({ isError: true }));
  if (keyId !== undefined) labels.push(labelOf({ keyId }));
  if (account !== undefined) {
    labels.push(labelOf({ account }), ...Object.entries(tags).map((tag) => labelOf({ account, tag })));
  }
  const members = labels.map((label) => label + place);
  const entry = JSON.stringify([members, JSON.stringify(line)]);
  const [counted] = countedFaults([line]);
  return [
    ...[place, entry, texts === undefined ? "" : JSON.stringify(texts)],
    ...(counted === undefined ? ["", 0, 0] : [toMember(counted), counted.refusals, counted.failures]),
    members.length,
    ...members,
  ];
}

/** @param entry - as the script has kept it. */
function fromStoredLine(entry: unknown): LoggedRequest[] {
  const text = String(entry);
  if (text === "") return [];
  const [, line] = JSON.parse(text) as [unknown, string];
  return [JSON.parse(line)];
}

function toMember({ minute, account, plan, model, target, keyId, tags }: CountedFaults): string {
  return `c:${momentText(minute)}:${JSON.stringify([account, plan, model, target, keyId, tags])}`;
}

const beforeNames = "c:".length + 16 + ":".length;

function fromMember(member: string, refusals: unknown, failures: unknown): CountedFaults {
  const [account, plan, model, target, keyId, tags] = JSON.parse(member.slice(beforeNames));
  const minute = Number(member.slice("c:".length, beforeNames - 1));
  return { minute, account, plan, model, target, keyId, tags, refusals: Number(refusals), failures: Number(failures) };
}

// A line is an entry of the hash `lines` under its place, `moment:id`, which sorts by its bytes: JSON of what leads to it, and
// the line. One sorted set, all of one score, has the places of lines below each label that leads to them, `o:` of all; and
// below `c:` what is counted, with its numbers in the hash `counts`. All keys are in one slot of a cluster.

const begin = `
local index, lines, texts, counts = unpack(KEYS)
local call = redis.call
local function remove(place)
  local entry = call('HGET', lines, place)
  if entry then call('ZREM', index, unpack(cjson.decode(entry)[1])) end
  call('HDEL', lines, place)
  call('HDEL', texts, place)
end
local function removeCount(member)
  call('ZREM', index, member)
  call('HDEL', counts, 'r' .. member, 'f' .. member)
end
`;

/** ARGV: how many lines are kept, the oldest place, the oldest minute, how many go at most, then seven for each line and its labels. */
const write = `
local maxRows, most = tonumber(ARGV[1]), tonumber(ARGV[4])
local at = 5
while at <= #ARGV do
  local place, entry, text, counted, refusals, failures = unpack(ARGV, at, at + 5)
  local labels = tonumber(ARGV[at + 6])
  if call('HSETNX', lines, place, entry) == 1 then
    for label = at + 7, at + 6 + labels do call('ZADD', index, 0, ARGV[label]) end
    if text ~= '' then call('HSET', texts, place, text) end
    if counted ~= '' then
      call('ZADD', index, 0, counted)
      call('HINCRBY', counts, 'r' .. counted, refusals)
      call('HINCRBY', counts, 'f' .. counted, failures)
    end
  end
  at = at + 7 + labels
end

local function trim(first, last, oldest, drop)
  local excess = call('ZLEXCOUNT', index, '[' .. first, '(' .. last) - maxRows
  for turn, member in ipairs(call('ZRANGEBYLEX', index, '[' .. first, '(' .. last, 'LIMIT', 0, most)) do
    if turn > excess and member >= first .. oldest then break end
    drop(member)
  end
end
trim('o:', 'o;', ARGV[2], function(member) remove(string.sub(member, 3)) end)
trim('c:', 'c;', ARGV[3], removeCount)
return 1
`;

const read = `
local found = {}
for turn, member in ipairs(call('ZREVRANGEBYLEX', index, '(' .. ARGV[2], '[' .. ARGV[1], 'LIMIT', 0, ARGV[3])) do
  found[turn] = call('HGET', lines, string.sub(member, ARGV[4] + 1)) or ''
end
return found
`;

const get = `
local newest = call('ZREVRANGEBYLEX', index, '(' .. ARGV[2], '[' .. ARGV[1], 'LIMIT', 0, 1)[1]
if not newest then return {} end
local place = string.sub(newest, ARGV[3] + 1)
return { call('HGET', lines, place), call('HGET', texts, place) or '' }
`;

const readCounts = `
local found = {}
for _, member in ipairs(call('ZRANGEBYLEX', index, ARGV[1], ARGV[2], 'LIMIT', 0, ARGV[3])) do
  found[#found + 1] = member
  found[#found + 1] = call('HGET', counts, 'r' .. member) or '0'
  found[#found + 1] = call('HGET', counts, 'f' .. member) or '0'
end
return found
`;

const forget = `
local members = call('ZRANGEBYLEX', index, '[' .. ARGV[1], '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
for _, member in ipairs(members) do remove(string.sub(member, ARGV[4] + 1)) end
return #members
`;

const forgetCounts = "for _, member in ipairs(ARGV) do removeCount(member) end return 1";

const requestScripts = {
  write: makeScript(begin, write),
  read: makeScript(begin, read),
  get: makeScript(begin, get),
  readCounts: makeScript(begin, readCounts),
  forget: makeScript(begin, forget),
  forgetCounts: makeScript(begin, forgetCounts),
};
