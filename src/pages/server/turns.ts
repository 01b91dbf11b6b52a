import { TimeLimit } from "../../guard/time-limit.js";

/** How long stores may take for an answer of a page. Browsers wait for it a little longer. */
const longestMs = 20_000;

export function answerLimit(): TimeLimit {
  return new TimeLimit(longestMs);
}

/** Lets one at a time act on what has an id: what it reads stays so until it writes, as far as this process goes. */
export class Turns {
  readonly #limit = answerLimit();
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * @throws TimeLimitError when it takes too long, with the wait for the turn: a store that hangs must not stop all that come
   * later. What has not begun by then never does.
   */
  async take<Result>(id: string, act: () => Promise<Result>): Promise<Result> {
    let isOver = false;
    const before = this.#last.get(id) ?? Promise.resolve();
    const done = this.#limit.race(before.then(() => (isOver ? new Promise<Result>(() => {}) : act())));
    const settled = done.catch(() => {
      isOver = true;
    });
    this.#last.set(id, settled);
    try {
      return await done;
    } finally {
      if (this.#last.get(id) === settled) this.#last.delete(id);
    }
  }
}
