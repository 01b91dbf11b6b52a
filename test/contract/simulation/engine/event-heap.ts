/** Something that happens at a moment of virtual time. */
export interface VirtualEvent {
  /** Milliseconds. */
  at: number;
  /** Of two events at one moment the one that was made first comes first. */
  order: number;
  /** The process that it belongs to, and dies with. `undefined`: the network, a server or the run. */
  readonly owner: Owner | undefined;
  readonly action: () => unknown;
  isCancelled: boolean;
}

/** A process, as far as its events are concerned. */
export interface Owner {
  isDead: boolean;
}

/** A binary heap of events, the next one first. */
export class EventHeap {
  readonly #events: VirtualEvent[] = [];

  get first(): VirtualEvent | undefined {
    return this.#events[0];
  }

  push(event: VirtualEvent): void {
    const events = this.#events;
    let place = events.length;
    events.push(event);
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = events[parent] as VirtualEvent;
      if (isBefore(above, event)) break;
      events[place] = above;
      place = parent;
    }
    events[place] = event;
  }

  pop(): VirtualEvent | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (last !== undefined && events.length > 0) this.#sink(last);
    return first;
  }

  #sink(event: VirtualEvent): void {
    const events = this.#events;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= events.length) break;
      const right = events[child + 1];
      if (right !== undefined && isBefore(right, events[child] as VirtualEvent)) child++;
      const below = events[child] as VirtualEvent;
      if (isBefore(event, below)) break;
      events[place] = below;
      place = child;
    }
    events[place] = event;
  }
}

function isBefore(one: VirtualEvent, other: VirtualEvent): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
