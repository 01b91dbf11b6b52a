import type { UpstreamProvider } from "../providers/upstream-provider.js";

/** A provider of the catalog, and how many calls may still use it. */
export class UsedProvider {
  readonly provider: UpstreamProvider;
  /** Calls whose model has a target of this provider. */
  #calls = 0;
  #closeWhenUnused: (() => void) | undefined;

  constructor(provider: UpstreamProvider) {
    this.provider = provider;
  }

  enter(): void {
    this.#calls++;
  }

  leave(): void {
    this.#calls--;
    if (this.#calls === 0) this.#closeWhenUnused?.();
  }

  /** The catalog has the provider, maybe again. */
  keep(): void {
    this.#closeWhenUnused = undefined;
  }

  /** The catalog has the provider no longer. @param close - called when the last call has ended. */
  drop(close: () => void): void {
    if (this.#calls === 0) {
      close();
      return;
    }
    this.#closeWhenUnused = () => {
      this.#closeWhenUnused = undefined;
      close();
    };
  }
}
