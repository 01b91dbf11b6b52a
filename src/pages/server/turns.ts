/** Lets one at a time act on what has an id: what it reads stays so until it writes, as far as this process goes. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<Result>(id: string, act: () => Promise<Result>): Promise<Result> {
    const done = (this.#last.get(id) ?? Promise.resolve()).then(act);
    const settled = done.catch(() => {});
    this.#last.set(id, settled);
    try {
      return await done;
    } finally {
      if (this.#last.get(id) === settled) this.#last.delete(id);
    }
  }
}
