import { callHook } from "../../events/call-hook.js";
import type { RequestCompleted } from "../../events/request-completed.js";
import type { AttemptTarget, RequestObserver } from "../../events/request-observer.js";
import { checkTraceHeaders } from "./check-trace-headers.js";
import type { ObservedRequest } from "./observer.js";
import { returnedAtOnce } from "./returned-at-once.js";

/** Those of the host who follow one request. What one of them throws keeps nothing from the others. */
export class Followers {
  readonly #all: readonly ObservedRequest[];
  readonly #failed: (cause: unknown) => void;

  constructor(all: readonly ObservedRequest[], failed: (cause: unknown) => void) {
    this.#all = all;
    this.#failed = failed;
  }

  completed(event: RequestCompleted): void {
    this.#tell((follower) => follower.onCompleted(event));
  }

  /** @param summary - collects the event of the request; it gets all that happens. Its methods are put onto. */
  join(summary: RequestObserver): RequestObserver {
    const attemptStarted = summary.attemptStarted.bind(summary);
    const responded = summary.responded.bind(summary);
    return Object.assign(summary, {
      attemptStarted: (target: AttemptTarget) => {
        attemptStarted(target);
        this.#attempt(target);
      },
      responded: (status: number) => {
        this.#tell((follower) => follower.onResponse?.(status));
        responded(status);
      },
      ...(this.#some("run") && { run: <T>(work: () => T): T => this.#within("run", work) }),
      ...(this.#some("runAttempt") && { runAttempt: <T>(call: () => T): T => this.#within("runAttempt", call) }),
      ...(this.#some("traceHeaders") && { traceHeaders: () => this.#traceHeaders() }),
    });
  }

  #attempt({ providerName: provider, upstreamModel: model }: AttemptTarget): void {
    this.#tell((follower) => follower.onAttempt?.({ provider, model }));
  }

  #some(method: keyof ObservedRequest): boolean {
    return this.#all.some((follower) => follower[method] !== undefined);
  }

  /** The work is done once, whatever those around it do, and what it throws is thrown. */
  #within<T>(method: "run" | "runAttempt", work: () => T): T {
    let done: { readonly result: T } | { readonly thrown: unknown } | undefined;
    const once = (): void => {
      try {
        done ??= { result: work() };
      } catch (thrown) {
        done ??= { thrown };
      }
    };
    const nested = this.#all.reduceRight<() => void>(
      (inner, follower) => () => callHook(() => withinOne(follower, method, inner), this.#failed),
      once,
    );
    nested();
    once();
    if (done === undefined || "thrown" in done) throw done?.thrown;
    return done.result;
  }

  #traceHeaders(): Readonly<Record<string, string>> | undefined {
    let headers: Readonly<Record<string, string>> | undefined;
    this.#tell((follower) => {
      const returned = returnedAtOnce("traceHeaders of an observer", follower.traceHeaders?.(), this.#failed);
      if (returned !== undefined) headers ??= checkTraceHeaders(returned);
    });
    return headers;
  }

  #tell(what: (follower: ObservedRequest) => void): void {
    for (const follower of this.#all) callHook(() => what(follower), this.#failed);
  }
}

/** @returns what the observer does: a promise that it should not have made may reject. */
function withinOne(follower: ObservedRequest, method: "run" | "runAttempt", work: () => void): unknown {
  return follower[method] === undefined ? work() : follower[method](work);
}
