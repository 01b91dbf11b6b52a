import { AsyncLocalStorage } from "node:async_hooks";
import type { Warn } from "../events/warning.js";
import { TimeLimit } from "../guard/time-limit.js";
import { isPromiseLike, returnedAtOnce } from "../host-code/returned-at-once.js";
import type { GuardedCall } from "./answer-guard.js";
import type { ResolvedGuard } from "./answer-guards-schema.js";
import { GuardRound, type LimitedGuard } from "./guard-round.js";

/** The host's guards of one gateway. */
export class AnswerGuards {
  readonly #guards: readonly LimitedGuard[];
  readonly #warn: Warn;
  /** The guards in whose code the current call is made. */
  readonly #running = new AsyncLocalStorage<ReadonlySet<ResolvedGuard>>();

  /** @param isolate - see {@link TimeLimit}. */
  constructor(guards: readonly ResolvedGuard[], warn: Warn, isolate: boolean) {
    this.#guards = guards.map((guard) => ({ guard, limit: new TimeLimit(guard.timeoutMs, guard.timeoutMs, isolate) }));
    this.#warn = warn;
  }

  /**
   * The guards for a call. A call that a guard itself makes is not checked by that guard, or it would never end.
   * @returns `undefined` when there is none.
   */
  select(call: GuardedCall): GuardRound | undefined {
    const outer = this.#running.getStore();
    const selected = this.#guards.filter(({ guard }) => outer?.has(guard) !== true && this.#isFor(guard, call));
    if (selected.length === 0) return undefined;
    // Answers end in callbacks of the upstream's connection. The host's code runs where its request came in.
    const inContext = AsyncLocalStorage.snapshot();
    return new GuardRound(selected, call, {
      run: (guard, work) => inContext(() => this.#running.run(new Set([...(outer ?? []), guard]), work)),
      warn: this.#warn,
    });
  }

  #isFor({ name, when }: ResolvedGuard, call: GuardedCall): boolean {
    if (when === undefined) return true;
    const failed = (cause: unknown): void => {
      const message = `"when" of the guard "${name}" failed. The guard checks the answer.`;
      this.#warn({ code: "hook_failed", message, cause, requestId: call.requestId });
    };
    try {
      const isFor: unknown = when(call);
      if (!isPromiseLike(isFor)) return Boolean(isFor);
      returnedAtOnce(`"when" of the guard "${name}"`, isFor, failed);
      return true;
    } catch (cause) {
      failed(cause);
      return true;
    }
  }
}
