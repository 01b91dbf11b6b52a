/** A request in the line. */
export interface Queuing {
  /** Takes a place at a target, if one is free for this request. */
  readonly take: () => boolean;
  /** Whether a target is left for which waiting makes sense. */
  readonly canWait: () => boolean;
}

/** A request in the line, and how it is woken. */
export interface Waiter extends Queuing {
  readonly wake: () => void;
  isServed: boolean;
}

/** The requests that wait for one of a model's targets. It outlives changes of the catalog that keep the model. */
export class WaitingLine {
  readonly #waiters: Waiter[] = [];

  get length(): number {
    return this.#waiters.length;
  }

  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  remove(waiter: Waiter): void {
    const place = this.#waiters.indexOf(waiter);
    if (place >= 0) this.#waiters.splice(place, 1);
  }

  /**
   * A place is free. The first waiting request that can use it takes it at once, before new requests. Requests that can
   * no longer be served leave the line.
   * @returns whether one has taken it.
   */
  offer(): boolean {
    for (const waiter of [...this.#waiters]) {
      waiter.isServed = waiter.take();
      if (!waiter.isServed && waiter.canWait()) continue;
      this.remove(waiter);
      waiter.wake();
      if (waiter.isServed) return true;
    }
    return false;
  }
}
