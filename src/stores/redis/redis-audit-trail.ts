import {
  type AuditEntry,
  type AuditLimits,
  type AuditTrail,
  checkAuditLimits,
  goneAtOnce,
  knownAuditLimits,
} from "../../audit/audit-trail.js";
import { auditFilters, checkedAuditTrail, isFiltered } from "../../audit/checked-audit-trail.js";
import { requireKnownOptions } from "../../check/known-options.js";
import { clock } from "./lua/prelude.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "./redis-connection.js";
import { makeScript } from "./script.js";

/** Options of {@link redisAuditTrail}. */
export interface RedisAuditTrailOptions extends RedisOptions, AuditLimits {}

/** How many entries one script reads, so that it keeps no other client waiting. */
const mostPerScript = 200;

/**
 * Keeps what the management API changes in Redis.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisAuditTrail(options: RedisAuditTrailOptions): AuditTrail {
  requireKnownOptions("redisAuditTrail", options, { ...knownRedisOptions, ...knownAuditLimits });
  return auditTrailOn(connectionOf(options), options);
}

/** The same on a connection that is shared with other stores. */
export function auditTrailOn(
  { run, prefix }: Pick<RedisConnection, "run" | "prefix">,
  limits: AuditLimits | undefined,
): AuditTrail {
  const { keepMs, maxEntries } = checkAuditLimits(limits);
  const nameOf = (part: string) => `${prefix}:{audit}:${part}`;
  const entries = nameOf("entries");
  const written = [nameOf("order"), entries, ...auditFilters.map(nameOf)];

  return checkedAuditTrail("redisAuditTrail", {
    async append({ place, json, movedTo = "", ...values }) {
      const filed = auditFilters.map((name) => values[name] ?? "");
      await run(auditScripts.append, written, [place, json, keepMs, maxEntries, ...filed, movedTo]);
    },

    async list({ filters, from, below, limit }) {
      const wanted = auditFilters.filter((name) => filters[name] !== undefined);
      // The first one has the fewest entries.
      const [index, ...others] = wanted;
      const keys = [nameOf(index ?? "order"), entries];
      const begin = index === undefined ? "" : `${filters[index]}\0`;
      const found: AuditEntry[] = [];
      for (let next = below; next !== "" && found.length < limit; ) {
        const size = others.length > 0 ? mostPerScript : Math.min(mostPerScript, limit - found.length);
        const reply = (await run(auditScripts.list, keys, [begin, from, next, size])) as readonly unknown[];
        const [last, ...texts] = reply.map(String);
        const read = texts.map((text): AuditEntry => JSON.parse(text));
        found.push(...read.filter((entry) => isFiltered(entry, filters)));
        next = last ?? "";
      }
      return found.slice(0, limit);
    },
  });
}

// All keys are in one slot of a cluster:
// - a sorted set of the entries' places, all of one score, so that they are in the order of their bytes;
// - a hash of the entries by their places, as JSON;
// - for each of account, key, author and action, a sorted set of `value, NUL, place`, as the first one. The accounts have
//   that of a key's move twice.

/** Keeps an entry, unless its place is taken, and drops some of what is too old or too much. */
const append = `
local call = redis.call
local orderKey, entriesKey = KEYS[1], KEYS[2]
local place, json, keepMs, most = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
`;

const appendEntry = `
if call('HSETNX', entriesKey, place, json) == 0 then return 0 end
call('ZADD', orderKey, 0, place)
for index = 3, #KEYS do
  local value = ARGV[index + 2]
  if value ~= '' then call('ZADD', KEYS[index], 0, value .. '\\0' .. place) end
end
local movedTo = ARGV[#KEYS + 3]
if movedTo ~= '' then call('ZADD', KEYS[3], 0, movedTo .. '\\0' .. place) end

local function drop(gone)
  local entry = cjson.decode(call('HGET', entriesKey, gone) or '{}')
  local values = { entry.account, entry.key, entry.by, entry.action }
  for index = 3, #KEYS do
    local value = values[index - 2]
    if value then call('ZREM', KEYS[index], value .. '\\0' .. gone) end
  end
  if entry.movedTo then call('ZREM', KEYS[3], entry.movedTo .. '\\0' .. gone) end
  call('HDEL', entriesKey, gone)
  call('ZREM', orderKey, gone)
end

local count = call('ZCARD', orderKey)
for _, oldest in ipairs(call('ZRANGE', orderKey, 0, ${goneAtOnce - 1})) do
  local isTooOld = tonumber(string.sub(oldest, 1, 16)) < now - keepMs
  if count <= most and not isTooOld then break end
  drop(oldest)
  count = count - 1
end
return 1
`;

/** So many entries from a place down, of one index. Gives the last place that was read, and the entries. */
const list = `
local call = redis.call
local indexKey, entriesKey = KEYS[1], KEYS[2]
local begin, from, below, limit = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local found = call('ZREVRANGEBYLEX', indexKey, '(' .. begin .. below, '[' .. begin .. from, 'LIMIT', 0, limit)
local reply = { #found == limit and string.sub(found[#found], #begin + 1) or '' }
for _, member in ipairs(found) do
  local entry = call('HGET', entriesKey, string.sub(member, #begin + 1))
  if entry then reply[#reply + 1] = entry end
end
return reply
`;

const auditScripts = { append: makeScript(append, clock, appendEntry), list: makeScript(list) };
