/** An item of an {@link IndexedSet}. */
export interface Indexed {
  /** Its index in the set, written by the set only; -1 while it is in none. */
  place: number;
}

/**
 * A set for tens of thousands of additions and removals a second. `Set` is no alternative: when it rehashes, V8 links
 * the old table to the new one. Once an old table is in the old space, the chain keeps every former entry alive until
 * the next major collection.
 */
export class IndexedSet<Item extends Indexed> {
  /** It keeps the length that it had at the most: an array that grows from nothing takes room for many items each time. */
  readonly #items: (Item | undefined)[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(item: Item): boolean {
    return item.place >= 0;
  }

  add(item: Item): void {
    if (item.place >= 0) return;
    item.place = this.#size++;
    this.#items[item.place] = item;
  }

  /** The last item moves to the free index. */
  remove(item: Item): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.#items[--this.#size];
    this.#items[this.#size] = undefined;
    if (last === undefined || last === item) return;
    this.#items[place] = last;
    last.place = place;
  }

  /** A copy of the items: later additions and removals do not change it. */
  list(): readonly Item[] {
    return this.#items.slice(0, this.#size) as Item[];
  }
}
