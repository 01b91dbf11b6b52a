import type { TimeLimit, TimeLimitError, Wait } from "./time-limit.js";

/**
 * Waits for a read within a time limit. A connection may have died without a word, and what is sent on it waits in vain: so a
 * read that has no response after a quarter of the limit is sent once more, and again after half of it. The first response
 * counts.
 *
 * @param sent - the read that is under way.
 * @param read - sends it again. It changes nothing.
 * @throws what the read throws, when no other one is under way; TimeLimitError when none has a response in time.
 */
export function repeatedRead<Found>(
  sent: PromiseLike<Found>,
  read: () => PromiseLike<Found> | Found,
  limit: TimeLimit,
): Promise<Found> {
  return new Promise((resolve, reject) => {
    const reading = new Reading(read, limit, { resolve, reject });
    limit.begin(reading);
    reading.follow(sent);
  });
}

class Reading<Found> implements Wait {
  firstTick = 0;
  place = -1;
  readonly #read: () => PromiseLike<Found> | Found;
  readonly #limit: TimeLimit;
  readonly #caller: { resolve(found: Found): void; reject(error: unknown): void };
  #underWay = 0;

  constructor(
    read: () => PromiseLike<Found> | Found,
    limit: TimeLimit,
    caller: { resolve(found: Found): void; reject(error: unknown): void },
  ) {
    this.#read = read;
    this.#limit = limit;
    this.#caller = caller;
  }

  again(): void {
    this.follow(startRead(this.#read));
  }

  follow(sent: PromiseLike<Found>): void {
    this.#underWay++;
    sent.then(
      (found) => {
        if (this.#limit.end(this)) this.#caller.resolve(found);
      },
      (error: unknown) => {
        this.#underWay--;
        if (this.#underWay === 0 && this.#limit.end(this)) this.#caller.reject(error);
      },
    );
  }

  expire(error: TimeLimitError): void {
    this.#caller.reject(error);
  }
}

/** A host's own store may throw, or return its result without a promise. */
async function startRead<Found>(read: () => PromiseLike<Found> | Found): Promise<Found> {
  return read();
}
