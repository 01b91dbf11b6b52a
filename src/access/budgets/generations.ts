const mostAccounts = 10_000;

/**
 * Numbers that change with an account. What was kept under another number is found no more, so that all of an account can be
 * forgotten without knowing what there is.
 */
export class Generations {
  readonly #byAccount = new Map<string, number>();
  /** Of accounts that have not changed since the map was cleared. */
  #others = 0;
  #newest = 0;

  of(account: string): number {
    return this.#byAccount.get(account) ?? this.#others;
  }

  /** The account has changed. */
  next(account: string): void {
    if (this.#byAccount.size >= mostAccounts) {
      // An account that is forgotten must not come back to a number that it has had: so all get a new one.
      this.#byAccount.clear();
      this.#others = ++this.#newest;
    }
    this.#byAccount.set(account, ++this.#newest);
  }
}
