import {
  type KeptRecord,
  noticeOf,
  type RecordCondition,
  type RecordData,
  type RecordKind,
  type RecordPut,
  type RecordRange,
  type RecordStore,
  type RecordUse,
} from "../../records/record-store.js";

interface Entry extends RecordData {
  usedAt: number | null;
}

/** The records of one owner. */
interface Shelf {
  readonly ids: Set<string>;
  /** In order, until one comes or goes. */
  sorted: readonly string[] | undefined;
}

class Kind {
  readonly byId = new Map<string, Entry>();
  readonly ids = new Map<string, string>();
  readonly shelves = new Map<string, Shelf>();
  readonly notices = new Notices();
}

/** Records in memory. They are gone when the process ends. */
export class MemoryRecordStore implements RecordStore {
  readonly #kinds: Readonly<Record<RecordKind, Kind>> = {
    key: new Kind(),
    plan: new Kind(),
    account_record: new Kind(),
    budget: new Kind(),
    model: new Kind(),
  };

  /** Makes a new record at once. @returns whether neither its id nor its alias was taken. */
  add(kind: RecordKind, record: RecordData): boolean {
    return this.#put(kind, record, { expected: null }) === "put";
  }

  /** Whether there is a record of this alias. */
  hasAlias(kind: RecordKind, alias: string): boolean {
    return this.#kinds[kind].ids.has(alias);
  }

  /** All texts of a kind, in the order in which they came. */
  texts(kind: RecordKind): string[] {
    return Array.from(this.#kinds[kind].byId.values(), ({ text }) => text);
  }

  async get(kind: RecordKind, by: "id" | "alias", names: readonly string[]): Promise<readonly KeptRecord[]> {
    const { byId, ids } = this.#kinds[kind];
    return names.flatMap((name) => byId.get((by === "id" ? name : ids.get(name)) ?? "") ?? []).map(toKept);
  }

  async list(kind: RecordKind, { owner, after, limit }: RecordRange): Promise<readonly KeptRecord[]> {
    const { byId, shelves } = this.#kinds[kind];
    const shelf = shelves.get(owner);
    if (shelf === undefined) return [];
    shelf.sorted ??= [...shelf.ids].sort();
    const first = firstAfter(shelf.sorted, after);
    return shelf.sorted
      .slice(first, first + limit)
      .flatMap((id) => byId.get(id) ?? [])
      .map(toKept);
  }

  async put(kind: RecordKind, record: RecordData, condition?: RecordCondition): Promise<RecordPut> {
    return this.#put(kind, record, condition);
  }

  #put(kind: RecordKind, record: RecordData, { expected, most = Infinity }: RecordCondition = {}): RecordPut {
    const { byId, ids, notices } = this.#kinds[kind];
    const { id, alias } = record;
    const earlier = byId.get(id);
    if (expected !== undefined && expected !== (earlier?.text ?? null)) return "unexpected";
    if (alias !== null && (ids.get(alias) ?? id) !== id) return "unexpected";
    if (earlier === undefined && byId.size >= most) return "full";
    if (earlier !== undefined && (earlier.owner !== record.owner || earlier.alias !== alias))
      this.#unlink(kind, earlier);
    byId.set(id, { ...record, usedAt: earlier?.usedAt ?? null });
    if (alias !== null) ids.set(alias, id);
    this.#shelve(kind, record);
    notices.tell(noticeOf(kind, record));
    return "put";
  }

  async remove(kind: RecordKind, id: string, expected?: string): Promise<boolean> {
    const entry = this.#kinds[kind].byId.get(id);
    if (entry === undefined || (expected ?? entry.text) !== entry.text) return false;
    this.#drop(kind, entry);
    return true;
  }

  async clear(kind: RecordKind, owner: string): Promise<readonly string[]> {
    const { byId, shelves } = this.#kinds[kind];
    const gone = [...(shelves.get(owner)?.ids ?? [])].flatMap((id) => byId.get(id) ?? []);
    for (const entry of gone) this.#drop(kind, entry);
    return gone.flatMap(({ alias }) => alias ?? []);
  }

  async touch(kind: RecordKind, uses: readonly RecordUse[]): Promise<void> {
    for (const { id, at } of uses) {
      const entry = this.#kinds[kind].byId.get(id);
      if (entry !== undefined) entry.usedAt = Math.max(entry.usedAt ?? at, at);
    }
  }

  subscribe(kind: RecordKind, onChange: (name: string) => void): () => Promise<void> {
    return this.#kinds[kind].notices.subscribe(onChange);
  }

  #shelve(kind: RecordKind, { id, owner }: RecordData): void {
    const { shelves } = this.#kinds[kind];
    const shelf = shelves.get(owner) ?? { ids: new Set(), sorted: undefined };
    shelves.set(owner, shelf);
    if (shelf.ids.has(id)) return;
    shelf.ids.add(id);
    shelf.sorted = undefined;
  }

  #unlink(kind: RecordKind, { id, owner, alias }: RecordData): void {
    const { ids, shelves } = this.#kinds[kind];
    if (alias !== null) ids.delete(alias);
    const shelf = shelves.get(owner);
    if (shelf?.ids.delete(id)) shelf.sorted = undefined;
    if (shelf?.ids.size === 0) shelves.delete(owner);
  }

  #drop(kind: RecordKind, entry: Entry): void {
    this.#unlink(kind, entry);
    this.#kinds[kind].byId.delete(entry.id);
    this.#kinds[kind].notices.tell(noticeOf(kind, entry));
  }
}

function toKept({ id, text, usedAt }: Entry): KeptRecord {
  return { id, text, usedAt };
}

/** The index of the first text of a sorted list that is greater, by bisection. */
function firstAfter(sorted: readonly string[], text: string): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((sorted[middle] ?? "") <= text) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Tells the subscribers of a store in memory what has changed. */
export class Notices {
  readonly #listeners = new Set<{ readonly onChange: (id: string) => void }>();

  tell(id: string): void {
    for (const listener of this.#listeners) {
      try {
        listener.onChange(id);
      } catch {
        // One listener's error must not keep the others from the notice.
      }
    }
  }

  /** @returns ends the subscription. */
  subscribe(onChange: (id: string) => void): () => Promise<void> {
    const listener = { onChange };
    this.#listeners.add(listener);
    return async () => {
      this.#listeners.delete(listener);
    };
  }
}
