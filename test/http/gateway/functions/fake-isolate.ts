import { AsyncLocalStorage } from "node:async_hooks";
import { vi } from "vitest";
import type { Random } from "../../../e2e/processes/spending/random.js";

interface RequestContext {
  isOver: boolean;
  /** So many operations of its stores and model servers end before it is ended in the middle. `undefined`: it is not. */
  left: number | undefined;
}

interface Operation {
  readonly context: RequestContext | undefined;
  /** @param isAnswered - whether its promise settles. */
  run(isAnswered: boolean): void;
}

const longestMs = 200_000;
const atOnce = 8;

/**
 * What Workers do with requests of one isolate: promises and timers that a request has made end with it. So whoever waits
 * for another request's waits for ever, where that one has ended. Time is that of fake timers.
 */
export class FakeIsolate {
  readonly #requests = new AsyncLocalStorage<RequestContext>();
  readonly #random: Random;
  readonly #unbound: Record<string, unknown> = {};
  #waiting: Operation[] = [];

  constructor(random: Random) {
    this.#random = random;
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance", "Date"] });
    for (const name of ["setTimeout", "setInterval"] as const) this.#bind(name);
  }

  close(): void {
    Object.assign(globalThis, this.#unbound);
    vi.useRealTimers();
  }

  /** @param endsAfter - so many operations; `undefined`: it lives as long as it wants. */
  request<Result>(endsAfter: number | undefined, serve: () => Promise<Result>): Promise<Result> {
    return this.#requests.run({ isOver: false, left: endsAfter }, serve);
  }

  /** An operation of the request that is being served. */
  io<Result>(operate: () => Result | Promise<Result>): Promise<Result> {
    const context = this.#requests.getStore();
    return new Promise((resolve, reject) => {
      const run = (isAnswered: boolean) => {
        const done = Promise.resolve().then(operate);
        if (isAnswered) done.then(resolve, reject);
        else done.catch(() => {});
      };
      this.#waiting.push({ context, run });
    });
  }

  /** Each of its methods is an operation. */
  remote<Store extends object>(store: Store): Store {
    return new Proxy(store, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        if (name === "withoutPlan" || name === "subscribe") return undefined;
        return (...args: unknown[]) => this.io(() => member.apply(target, args));
      },
    });
  }

  /** Goes on until it is done, or nothing goes on any more. */
  async drive(isDone: () => boolean): Promise<void> {
    const until = Date.now() + longestMs;
    for (;;) {
      for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
      if (isDone()) return;
      if (this.#waiting.length > 0) for (let count = 0; count < atOnce; count++) this.#runOne();
      else if (vi.getTimerCount() > 0 && Date.now() < until) vi.advanceTimersToNextTimer();
      else return;
    }
  }

  #runOne(): void {
    const [operation] = this.#waiting.splice(this.#random.below(this.#waiting.length), 1);
    if (operation === undefined) return;
    const { context, run } = operation;
    if (context?.isOver === true) return;
    if (context?.left === 0) {
      context.isOver = true;
      // Whether it had an effect is a matter of luck.
      if (this.#random.oneIn(2)) run(false);
      return;
    }
    if (context?.left !== undefined) context.left--;
    run(true);
  }

  #bind(name: "setTimeout" | "setInterval"): void {
    const fake = globalThis[name] as (callback: () => void, ms?: number) => unknown;
    this.#unbound[name] = fake;
    const bound = (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      const context = this.#requests.getStore();
      return fake(() => context?.isOver !== true && callback(...args), ms);
    };
    Object.assign(globalThis, { [name]: bound });
  }
}
