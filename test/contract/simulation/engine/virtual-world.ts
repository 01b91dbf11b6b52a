import { setImmediate } from "node:timers";
import type { Clock } from "../../../../src/ledger/calendar.js";
import { EventHeap, type Owner, type VirtualEvent } from "./event-heap.js";

/** A Wednesday: no window ends while a run lasts. */
const epoch = Date.UTC(2026, 2, 11, 9, 30);

/**
 * Virtual time. It stands still while an event happens, and then jumps to the next one. What an event resolves, and what
 * waits for the end of a turn, happens before the next event does: all is in one order, whatever the machine.
 */
export class VirtualWorld {
  /** Milliseconds since the beginning. */
  now = 0;
  /** How many events have happened. */
  happened = 0;
  readonly #heap = new EventHeap();
  #made = 0;
  /** Whose event is happening. */
  #owner: Owner | undefined;

  /** @returns the event, so that it can be cancelled. */
  after(ms: number, action: () => unknown, owner: Owner | undefined = this.#owner): VirtualEvent {
    const event = { at: this.now + Math.max(0, ms), order: this.#made++, owner, action, isCancelled: false };
    this.#heap.push(event);
    return event;
  }

  /** The same for an event that belongs to no process. */
  afterAlways(ms: number, action: () => unknown): VirtualEvent {
    const event = { at: this.now + Math.max(0, ms), order: this.#made++, owner: undefined, action, isCancelled: false };
    this.#heap.push(event);
    return event;
  }

  /** A clock of this world, which is ahead by so much. */
  clock(skewMs = 0): Clock {
    return { now: () => Math.floor(epoch + this.now + skewMs) };
  }

  /** Until nothing is to happen any more. */
  async run(): Promise<void> {
    for (let event = this.#heap.pop(); event !== undefined; event = this.#heap.pop()) {
      if (event.isCancelled || event.owner?.isDead === true) continue;
      this.now = event.at;
      this.#owner = event.owner;
      this.happened++;
      const done = event.action();
      if (done instanceof Promise) await done;
      if (event.owner !== undefined) {
        // What the first turn has resolved may wait for the end of a turn in its turn.
        await endOfTurn();
        await endOfTurn();
      }
      this.#owner = undefined;
    }
  }
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
