import { idHash } from "./id-hash.js";

const smallest = 64;

/**
 * Values by id, for entries that come and go by the ten thousand a second: open addressing with linear probing, in which
 * a deletion leaves nothing behind. A `Map` would do, but see `Roster`: its old tables keep what was in them alive.
 */
export class IdTable<Value> {
  #mask = smallest - 1;
  #size = 0;
  #ids: (string | undefined)[] = new Array(smallest).fill(undefined);
  /** A word of each id's hash, so that another id is seldom compared, and none is hashed again. */
  #hashes = new Int32Array(smallest);
  #values: (Value | undefined)[] = new Array(smallest).fill(undefined);

  get size(): number {
    return this.#size;
  }

  get(id: string): Value | undefined {
    return this.#values[this.#find(id, wordOf(id))];
  }

  set(id: string, value: Value): void {
    const hash = wordOf(id);
    const slot = this.#find(id, hash);
    if (this.#ids[slot] === undefined) {
      if ((this.#size + 1) * 2 > this.#ids.length) {
        this.#grow();
        this.set(id, value);
        return;
      }
      this.#ids[slot] = id;
      this.#hashes[slot] = hash;
      this.#size++;
    }
    this.#values[slot] = value;
  }

  delete(id: string): void {
    let slot = this.#find(id, wordOf(id));
    if (this.#ids[slot] === undefined) return;
    this.#size--;
    // Those behind it that would be looked for in its place move up.
    for (let next = (slot + 1) & this.#mask; ; next = (next + 1) & this.#mask) {
      const other = this.#ids[next];
      if (other === undefined) break;
      const hash = this.#hashes[next] as number;
      const distance = (next - hash) & this.#mask;
      if (distance < ((next - slot) & this.#mask)) continue;
      this.#ids[slot] = other;
      this.#hashes[slot] = hash;
      this.#values[slot] = this.#values[next];
      slot = next;
    }
    this.#ids[slot] = undefined;
    this.#values[slot] = undefined;
  }

  /** The slot of the id, or the empty one where it belongs. */
  #find(id: string, hash: number): number {
    let slot = hash & this.#mask;
    for (;;) {
      const found = this.#ids[slot];
      if (found === undefined || (this.#hashes[slot] === hash && found === id)) return slot;
      slot = (slot + 1) & this.#mask;
    }
  }

  #grow(): void {
    const ids = this.#ids;
    const hashes = this.#hashes;
    const values = this.#values;
    const slots = ids.length * 2;
    this.#mask = slots - 1;
    this.#ids = new Array(slots).fill(undefined);
    this.#hashes = new Int32Array(slots);
    this.#values = new Array(slots).fill(undefined);
    for (const [slot, id] of ids.entries()) {
      if (id === undefined) continue;
      const hash = hashes[slot] as number;
      const to = this.#find(id, hash);
      this.#ids[to] = id;
      this.#hashes[to] = hash;
      this.#values[to] = values[slot];
    }
  }
}

function wordOf(id: string): number {
  return idHash(id)[0] as number;
}
