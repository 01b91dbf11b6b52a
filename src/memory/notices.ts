/** Tells the subscribers of a store in memory what has changed. */
export class Notices {
  readonly #listeners = new Set<{ readonly onChange: (id: string) => void }>();

  tell(id: string): void {
    for (const listener of this.#listeners) {
      try {
        listener.onChange(id);
      } catch {
        // One listener's error must not keep the others from the notice.
      }
    }
  }

  /** @returns ends the subscription. */
  subscribe(onChange: (id: string) => void): () => Promise<void> {
    const listener = { onChange };
    this.#listeners.add(listener);
    return async () => {
      this.#listeners.delete(listener);
    };
  }
}
