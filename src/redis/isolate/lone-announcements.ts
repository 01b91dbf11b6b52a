/** Notices of accounts, each sent at once. None waits for another one, which might have been cut off with its request. */
export class LoneAnnouncements {
  readonly #notify: (accounts: readonly string[]) => Promise<unknown>;

  constructor(notify: (accounts: readonly string[]) => Promise<unknown>) {
    this.#notify = notify;
  }

  add(account: string): void {
    // The change itself is done. Without a notice, others find out when their caches forget.
    this.#notify([account]).catch(() => {});
  }

  /** A request does not wait for the notices of others. */
  async idle(): Promise<void> {}
}
