import {
  type KeptRecord,
  noticeOf,
  ownerOfId,
  type RecordCondition,
  type RecordData,
  type RecordKind,
  type RecordPut,
  type RecordRange,
  type RecordStore,
  type RecordUse,
} from "../../records/record-store.js";
import { digest } from "./account-keys.js";
import type { RedisConnection } from "./redis-connection.js";
import { makeScript } from "./script.js";

/** How many records one script reads, touches or removes, so that it keeps no other client waiting. */
const mostPerScript = 200;

/**
 * Records in three keys for each kind, which are in one slot of a cluster: they are few and small next to what is read of them
 * in memory. Budgets, of which there may be many, have them for each account. Nothing expires.
 */
export class RedisRecordStore implements RecordStore {
  readonly #connection: RedisConnection;
  readonly subscribe?: NonNullable<RecordStore["subscribe"]>;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
    const { changes } = connection;
    if (changes.canSubscribe) this.subscribe = (kind, onChange) => changes.subscribe(kind, onChange);
  }

  async get(kind: RecordKind, by: "id" | "alias", names: readonly string[]): Promise<readonly KeptRecord[]> {
    const keys = this.#keysOf(kind, ownerOfId(names[0] ?? ""));
    return toKept(await this.#connection.run(recordScripts[by], keys, names));
  }

  async list(kind: RecordKind, { owner, after, limit }: RecordRange): Promise<readonly KeptRecord[]> {
    const found: KeptRecord[] = [];
    for (let from = after, size = 0; found.length < limit; ) {
      size = Math.min(mostPerScript, limit - found.length);
      const args = [filed(kind, owner), from, size];
      const reply = await this.#connection.run(recordScripts.list, this.#keysOf(kind, owner), args);
      const [records, count, last] = reply as readonly [unknown, unknown, unknown];
      found.push(...toKept(records));
      if (Number(count) < size) break;
      from = String(last);
    }
    return found;
  }

  async put(kind: RecordKind, record: RecordData, { expected, most }: RecordCondition = {}): Promise<RecordPut> {
    const { id, owner, alias, text } = record;
    const rule = expected === undefined ? "any" : expected === null ? "none" : "known";
    const condition = [rule, expected ?? "", most ?? ""];
    const notice = `${kind} ${noticeOf(kind, record)}`;
    const args = [id, filed(kind, owner), alias ?? "", text, ...condition, this.#connection.changes.channel, notice];
    return String(await this.#connection.run(recordScripts.put, this.#keysOf(kind, owner), args)) as RecordPut;
  }

  async remove(kind: RecordKind, id: string, expected?: string): Promise<boolean> {
    const owner = ownerOfId(id);
    const notice = `${kind} ${noticeOf(kind, { id, owner, alias: null })}`;
    const args = [id, this.#connection.changes.channel, kind, notice, ...(expected === undefined ? [] : [expected])];
    return Number(await this.#connection.run(recordScripts.remove, this.#keysOf(kind, owner), args)) === 1;
  }

  async clear(kind: RecordKind, owner: string): Promise<readonly string[]> {
    const gone: string[] = [];
    const notice = `${kind} ${noticeOf(kind, { id: "", owner, alias: null })}`;
    const args = [filed(kind, owner), mostPerScript, this.#connection.changes.channel, kind, notice];
    for (let count = mostPerScript; count === mostPerScript; ) {
      const reply = await this.#connection.run(recordScripts.clear, this.#keysOf(kind, owner), args);
      const [size, aliases] = reply as readonly [unknown, readonly unknown[]];
      gone.push(...aliases.map(String));
      count = Number(size);
    }
    return gone;
  }

  async touch(kind: RecordKind, uses: readonly RecordUse[]): Promise<void> {
    for (let from = 0; from < uses.length; from += mostPerScript) {
      const some = uses.slice(from, from + mostPerScript).flatMap(({ id, at }) => [id, at]);
      await this.#connection.run(recordScripts.touch, this.#keysOf(kind, ""), some);
    }
  }

  #keysOf(kind: RecordKind, owner: string): string[] {
    const slot = kind === "budget" ? digest(owner) : kind;
    const texts = `${this.#connection.prefix}:{${slot}}:${kind}`;
    return [texts, `${texts}:order`, `${texts}:rest`];
  }
}

/** An account's budgets have keys of their own, in which all have the same owner. */
function filed(kind: RecordKind, owner: string): string {
  return kind === "budget" ? "" : owner;
}

/** @param reply - id, text and use of each. */
function toKept(reply: unknown): KeptRecord[] {
  const texts = (reply as readonly unknown[]).map(String);
  return Array.from({ length: texts.length / 3 }, (_, index) => {
    const [id = "", text = "", usedAt] = texts.slice(3 * index, 3 * index + 3);
    return { id, text, usedAt: usedAt ? Number(usedAt) : null };
  });
}

// All keys are in one slot of a cluster, so that each change is one step:
// - a hash of the records' texts by their ids;
// - a sorted set of `owner, line feed, id`, all of one score, so that they are in the order of their bytes;
// - a hash of the rest: under `a` and an alias its id, under `o` and an id its owner unless that is empty, under `A` and an
//   id its alias, under `u` and an id when it was used.

const names = `
local call = redis.call
local texts, order, rest = KEYS[1], KEYS[2], KEYS[3]
`;

/** Gives id, text and use of each that is there. */
const read = `
local function read(ids)
  if #ids == 0 then return {} end
  local used = {}
  for index, id in ipairs(ids) do used[index] = 'u' .. id end
  local found, usedAt, reply = call('HMGET', texts, unpack(ids)), call('HMGET', rest, unpack(used)), {}
  for index, id in ipairs(ids) do
    if found[index] then
      local last = #reply
      reply[last + 1], reply[last + 2], reply[last + 3] = id, found[index], usedAt[index] or ''
    end
  end
  return reply
end
`;

const getById = "return read(ARGV)";

const getByAlias = `
local ids = {}
for _, alias in ipairs(ARGV) do ids[#ids + 1] = call('HGET', rest, 'a' .. alias) or nil end
return read(ids)
`;

/** Gives the last id too, as some that are listed may have no text. */
const list = `
local owner, after, limit = unpack(ARGV)
local from, to = '(' .. owner .. '\\n' .. after, '(' .. owner .. '\\11'
local ids = call('ZRANGEBYLEX', order, from, to, 'LIMIT', 0, limit)
for index, place in ipairs(ids) do ids[index] = string.sub(place, #owner + 2) end
return { read(ids), #ids, ids[#ids] or '' }
`;

const put = `
local id, owner, alias, text, rule, expected, most, channel, notice = unpack(ARGV)
local earlier = call('HGET', texts, id)
if rule == 'none' and earlier or rule == 'known' and earlier ~= expected then return 'unexpected' end
local taken = alias ~= '' and call('HGET', rest, 'a' .. alias)
if taken and taken ~= id then return 'unexpected' end
if not earlier and most ~= '' and call('HLEN', texts) >= tonumber(most) then return 'full' end
local ownerBefore, aliasBefore = call('HGET', rest, 'o' .. id) or '', call('HGET', rest, 'A' .. id) or ''
if ownerBefore ~= owner then
  call('ZREM', order, ownerBefore .. '\\n' .. id)
  call('HSET', rest, 'o' .. id, owner)
end
if aliasBefore ~= alias then
  call('HDEL', rest, 'a' .. aliasBefore)
  call('HSET', rest, 'a' .. alias, id, 'A' .. id, alias)
end
call('HSET', texts, id, text)
call('ZADD', order, 0, owner .. '\\n' .. id)
call('PUBLISH', channel, notice)
return 'put'
`;

const drop = `
local function drop(id, owner)
  local alias = call('HGET', rest, 'A' .. id)
  call('HDEL', texts, id)
  call('ZREM', order, owner .. '\\n' .. id)
  call('HDEL', rest, 'o' .. id, 'A' .. id, 'u' .. id, 'a' .. (alias or ''))
  return alias
end
`;

const remove = `
local id, channel, kind, notice, expected = unpack(ARGV)
local text = call('HGET', texts, id)
if not text or expected and text ~= expected then return 0 end
local alias = drop(id, call('HGET', rest, 'o' .. id) or '')
call('PUBLISH', channel, alias and kind .. ' ' .. alias or notice)
return 1
`;

/** Some of an owner's. Each is told by its alias, if it has one; else all together, by the notice. */
const clear = `
local owner, limit, channel, kind, notice = unpack(ARGV)
local places = call('ZRANGEBYLEX', order, '(' .. owner .. '\\n', '(' .. owner .. '\\11', 'LIMIT', 0, limit)
local aliases = {}
for _, place in ipairs(places) do
  local alias = drop(string.sub(place, #owner + 2), owner)
  if alias then
    aliases[#aliases + 1] = alias
    call('PUBLISH', channel, kind .. ' ' .. alias)
  end
end
if #aliases < #places then call('PUBLISH', channel, notice) end
return { #places, aliases }
`;

/** Moves uses on, never back. No notice: to those who know the record it is no change. */
const touch = `
for index = 1, #ARGV, 2 do
  local id, at = ARGV[index], ARGV[index + 1]
  local last = call('HGET', rest, 'u' .. id)
  local isLater = not last or tonumber(at) > tonumber(last)
  if isLater and call('HEXISTS', texts, id) == 1 then call('HSET', rest, 'u' .. id, at) end
end
return 1
`;

const recordScripts = {
  id: makeScript(names, read, getById),
  alias: makeScript(names, read, getByAlias),
  list: makeScript(names, read, list),
  put: makeScript(names, put),
  remove: makeScript(names, drop, remove),
  clear: makeScript(names, drop, clear),
  touch: makeScript(names, touch),
};
