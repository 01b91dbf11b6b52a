import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";

type Schedule = (callback: (...args: unknown[]) => void, ...rest: unknown[]) => unknown;
const names = ["setTimeout", "setInterval", "setImmediate"] as const;

/** A runtime that ends promises, timers and what else a request has begun with that request, as Workers do. */
export class RequestBoundRuntime {
  readonly #requests = new AsyncLocalStorage<{ hasEnded: boolean }>();
  readonly #real = names.map((name) => [name, timers[name]] as const);
  #inFlight = 0;

  /** How many promises of {@link tie} are there that may settle. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Runs a request; `end` ends it in the middle. */
  run<Result>(request: (end: () => void) => Promise<Result>): Promise<Result> {
    const state = { hasEnded: false };
    const end = () => {
      state.hasEnded = true;
    };
    return this.#requests.run(state, () => request(end));
  }

  /** What the call gives, to the request that makes it. It never settles once that has ended, and is not made after it. */
  tie<Result>(call: () => Promise<Result>): Promise<Result> {
    const request = this.#requests.getStore();
    return new Promise((resolve, reject) => {
      if (request?.hasEnded) return;
      this.#inFlight += 1;
      const settle = (act: () => void) => {
        this.#inFlight -= 1;
        if (!request?.hasEnded) act();
      };
      this.#requests.exit(call).then(
        (result) => settle(() => resolve(result)),
        (error) => settle(() => reject(error)),
      );
    });
  }

  /** From now on, timers are of the request that sets them. */
  install(): void {
    for (const [name, real] of this.#real) {
      const tied: Schedule = (callback, ...rest) => {
        const request = this.#requests.getStore();
        const guarded = (...args: unknown[]) => {
          if (!request?.hasEnded) callback(...args);
        };
        return (real as unknown as Schedule)(guarded, ...rest);
      };
      this.#put(name, tied as never);
    }
  }

  uninstall(): void {
    for (const [name, real] of this.#real) this.#put(name, real);
  }

  #put(name: (typeof names)[number], schedule: unknown): void {
    Object.assign(timers, { [name]: schedule });
    Object.assign(globalThis, { [name]: schedule });
    syncBuiltinESMExports();
  }
}
