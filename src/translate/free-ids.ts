/** Gives ids that are different, whatever ids it is given: weak models give two calls the same, or none. */
export class FreeIds {
  readonly #ids = new Set<string>();
  /** How often each id was asked for. */
  readonly #counts = new Map<string, number>();

  /** How many it has given. */
  get size(): number {
    return this.#ids.size;
  }

  /** @returns the id itself, or with a number behind it. However often it is asked for, that takes no longer. */
  take(id: string): string {
    let count = (this.#counts.get(id) ?? 0) + 1;
    let free = count === 1 ? id : `${id}_${count}`;
    while (this.#ids.has(free)) free = `${id}_${++count}`;
    this.#counts.set(id, count);
    this.#ids.add(free);
    return free;
  }
}
