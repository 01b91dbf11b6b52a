/** What a message, or a part of one, counts beside its texts: there may be many without any. */
const perThing = 32;

/** How much of a call's content is still taken. */
export class ContentRoom {
  #left: number;

  /** @param most - characters. */
  constructor(most: number) {
    this.#left = most;
  }

  /** @returns whether one more message or part is taken. */
  takesOne(): boolean {
    this.#left -= perThing;
    return this.#left > -perThing;
  }

  /** @returns what of the text is taken. */
  take(text: string): string {
    const taken = text.slice(0, Math.max(0, this.#left)).toWellFormed();
    this.#left -= taken.length;
    return taken;
  }
}
