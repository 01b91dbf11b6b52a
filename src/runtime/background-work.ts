/** Work that goes on behind responses: settlements that are kept, hooks of the host's that have not returned. */
export class BackgroundWork {
  readonly #owners = new Map<Promise<void>, string | undefined>();

  /**
   * @param work - may reject: whoever began it has to deal with that.
   * @param owner - whose work it is, such as the id of a call. Default: nobody's in particular.
   */
  add(work: Promise<unknown>, owner?: string): void {
    const done: Promise<void> = work.then(ignore, ignore).then(() => void this.#owners.delete(done));
    this.#owners.set(done, owner);
  }

  /** Resolves when nothing goes on of what is theirs. */
  async of(...owners: readonly string[]): Promise<void> {
    for (;;) {
      const theirs = [...this.#owners].filter(([, owner]) => owner !== undefined && owners.includes(owner));
      if (theirs.length === 0) return;
      await Promise.all(theirs.map(([work]) => work));
    }
  }

  /** Resolves when all that goes on now has ended. */
  async idle(): Promise<void> {
    await Promise.all(this.#owners.keys());
  }
}

function ignore(): void {}
