const smallest = 64;

/**
 * Values by id, for entries that come and go by the ten thousand a second: open addressing with linear probing, in which
 * a deletion leaves nothing behind. A `Map` would do, but see `Roster`: its old tables keep what was in them alive.
 */
export class IdTable<Value> {
  #mask = smallest - 1;
  #size = 0;
  #ids: (string | undefined)[] = new Array(smallest).fill(undefined);
  #values: (Value | undefined)[] = new Array(smallest).fill(undefined);

  get size(): number {
    return this.#size;
  }

  get(id: string): Value | undefined {
    return this.#values[this.#find(id)];
  }

  set(id: string, value: Value): void {
    const slot = this.#find(id);
    if (this.#ids[slot] === undefined) {
      if ((this.#size + 1) * 2 > this.#ids.length) {
        this.#grow();
        this.set(id, value);
        return;
      }
      this.#ids[slot] = id;
      this.#size++;
    }
    this.#values[slot] = value;
  }

  delete(id: string): void {
    let slot = this.#find(id);
    if (this.#ids[slot] === undefined) return;
    this.#size--;
    // Those behind it that would be looked for in its place move up.
    for (let next = (slot + 1) & this.#mask; ; next = (next + 1) & this.#mask) {
      const other = this.#ids[next];
      if (other === undefined) break;
      const distance = (next - hash(other)) & this.#mask;
      if (distance < ((next - slot) & this.#mask)) continue;
      this.#ids[slot] = other;
      this.#values[slot] = this.#values[next];
      slot = next;
    }
    this.#ids[slot] = undefined;
    this.#values[slot] = undefined;
  }

  /** The slot of the id, or the empty one where it belongs. */
  #find(id: string): number {
    let slot = hash(id) & this.#mask;
    for (;;) {
      const found = this.#ids[slot];
      if (found === undefined || found === id) return slot;
      slot = (slot + 1) & this.#mask;
    }
  }

  #grow(): void {
    const ids = this.#ids;
    const values = this.#values;
    this.#mask = ids.length * 2 - 1;
    this.#ids = new Array(ids.length * 2).fill(undefined);
    this.#values = new Array(ids.length * 2).fill(undefined);
    for (const [slot, id] of ids.entries()) {
      if (id === undefined) continue;
      const to = this.#find(id);
      this.#ids[to] = id;
      this.#values[to] = values[slot];
    }
  }
}

/** FNV-1a over the UTF-16 units, mixed at the end so that the low bits are as good as any. */
function hash(id: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) value = Math.imul(value ^ id.charCodeAt(index), 0x01000193);
  return value ^ (value >>> 15);
}
