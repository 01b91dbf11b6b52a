import { runtime } from "../runtime/this-runtime.js";

/** What fits into the 12 bits of a counter. */
const mostOfMillisecond = 2 ** 12;

/**
 * Ids of new keys, and of what is ordered as they are: UUIDs of version 7 with a counter (RFC 9562, sections 5.7 and 6.2). As texts, those of one process are
 * in the order in which they were made, so that keys of one millisecond are listed in it.
 */
export class KeyIds {
  readonly #prefix: string;
  #millisecond = 0;
  #made = 0;

  constructor(prefix = "key_") {
    this.#prefix = prefix;
  }

  /** @param now - epoch milliseconds. */
  next(now: number): string {
    const millisecond = Math.max(Math.floor(now), this.#millisecond);
    if (millisecond > this.#millisecond) this.#made = 0;
    // More than the counter has room for borrow from the next millisecond.
    this.#millisecond = this.#made < mostOfMillisecond ? millisecond : millisecond + 1;
    this.#made %= mostOfMillisecond;
    const time = this.#millisecond.toString(16).padStart(12, "0");
    const counter = (this.#made++).toString(16).padStart(3, "0");
    const random = runtime.randomBytes(8);
    random[0] = ((random[0] ?? 0) & 0x3f) | 0x80;
    const rest = random.toString("hex");
    return `${this.#prefix}${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${rest.slice(0, 4)}-${rest.slice(4)}`;
  }
}
