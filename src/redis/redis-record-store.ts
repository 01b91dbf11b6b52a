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
} from "../records/record-store.js";
import { digest } from "./account-keys.js";
import { recordScripts } from "./record-scripts.js";
import type { RedisConnection } from "./redis-options.js";

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
