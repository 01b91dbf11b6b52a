/** What can be in an {@link IndexedSet}. */
export interface Indexed {
  /** Its place in the set, which alone writes it; -1 while it is in none. */
  place: number;
}

/**
 * A set for additions and removals by the ten thousand a second. A `Set` would do, but each time that one grows out of its
 * deleted entries, V8 links the old table to the new one; once an old table has reached the old space, the chain keeps
 * everything that was ever in it until the next major collection.
 */
export class IndexedSet<Item extends Indexed> {
  readonly #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    if (item.place >= 0) return;
    item.place = this.#items.push(item) - 1;
  }

  /** The last one takes its place. */
  remove(item: Item): void {
    const { place } = item;
    if (place < 0) return;
    item.place = -1;
    const last = this.#items.pop();
    if (last === undefined || last === item) return;
    this.#items[place] = last;
    last.place = place;
  }

  /** All of them now: additions and removals meanwhile change nothing. */
  list(): readonly Item[] {
    return this.#items.slice();
  }
}
