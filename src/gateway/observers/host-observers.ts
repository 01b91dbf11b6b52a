import type { RequestCompleted } from "../../events/request-completed.js";
import { type ArrivedRequest, noObserver, type ObserveRequest } from "../../events/request-observer.js";
import { summarizeRequests } from "../../events/summarize-requests.js";
import type { GatewayWarning, Warn } from "../../events/warning.js";
import type { LedgerEvent } from "../../guard/ledger-event.js";
import type { Clock } from "../../ledger/clock.js";
import { consoleWarn } from "../console-warn.js";
import type { Gateway } from "../gateway.js";
import type { ResolvedOptions } from "../options.js";
import { Followers } from "./followers.js";
import { guarded } from "./guarded.js";
import type { ObservedRequest, Observer } from "./observer.js";

/** What requests are observed with. */
interface ObservingServices {
  /** Gets the event of each request after the observers. Must not throw. */
  readonly complete: ((event: RequestCompleted) => void) | undefined;
  readonly warnOnce: Warn;
  readonly clock: Clock;
}

/** How long the gateway waits for observers when it closes, in milliseconds. */
const longestCloseMs = 1_000;

/** The observers of the options. What they throw harms nothing else. */
export class HostObservers {
  readonly #all: readonly Observer[];
  #warnOnce: Warn = () => {};

  constructor({ observers }: Pick<ResolvedOptions, "observers">) {
    this.#all = observers;
  }

  /** @returns the options, with hooks for those who want to know of warnings and of the ledger. */
  addTo(options: ResolvedOptions): ResolvedOptions {
    const warned = this.#with("onWarning");
    const told = this.#with("onLedgerEvent");
    const { onWarning, onLedgerEvent } = options;
    return {
      ...options,
      ...(warned.length > 0 && {
        onWarning: (warning: GatewayWarning) => {
          for (const observer of warned) this.#quietly(() => observer.onWarning?.(warning));
          return (onWarning ?? consoleWarn)(warning);
        },
      }),
      ...(told.length > 0 && {
        onLedgerEvent: (event: LedgerEvent) => {
          for (const observer of told) this.#guarded(() => observer.onLedgerEvent?.(event));
          return onLedgerEvent?.(event);
        },
      }),
    };
  }

  /** @returns `undefined` where nobody looks on, so that requests pay nothing for it. */
  observe({ complete, warnOnce, clock }: ObservingServices): ObserveRequest | undefined {
    this.#warnOnce = warnOnce;
    const looking = this.#with("onRequest");
    const alone = complete && summarizeRequests(complete, clock);
    if (looking.length === 0) return alone;
    return (arrived) => {
      const failed = (cause: unknown): void => this.#failed(cause, arrived.requestId);
      const all = looking.flatMap((observer) => followerOf(observer, arrived, failed) ?? []);
      if (all.length === 0) return alone?.(arrived) ?? noObserver;
      const followers = new Followers(all, failed);
      const summarize = summarizeRequests((event) => {
        followers.completed(event);
        complete?.(event);
      }, clock);
      return followers.join(summarize(arrived));
    };
  }

  start(gateway: Pick<Gateway, "health">): void {
    const health = () => gateway.health();
    for (const observer of this.#all) this.#guarded(() => observer.onStart?.({ health }));
  }

  async close(): Promise<void> {
    const closing = this.#with("close").map(async (observer) => observer.close?.());
    if (closing.length === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, longestCloseMs);
    });
    const ended = Promise.all(closing.map((each) => each.catch((cause: unknown) => this.#failed(cause))));
    await Promise.race([ended, timeUp]);
    clearTimeout(timer);
  }

  #with(method: keyof Observer): readonly Observer[] {
    return this.#all.filter((observer) => observer[method] !== undefined);
  }

  #guarded(call: () => unknown): void {
    guarded(call, (cause) => this.#failed(cause));
  }

  /** A warning of a failed warning would not end. */
  #quietly(call: () => unknown): void {
    guarded(call, () => {});
  }

  #failed(cause: unknown, requestId?: string): void {
    const what = cause instanceof Error ? cause.name : typeof cause;
    const message = `An observer threw (${what}), which is told once.`;
    this.#warnOnce({ code: "hook_failed", message, cause, ...(requestId !== undefined && { requestId }) });
  }
}

function followerOf(
  observer: Observer,
  { requestId, endpoint, head }: ArrivedRequest,
  failed: (cause: unknown) => void,
): ObservedRequest | undefined {
  try {
    const header = (name: string): string | undefined => head.header(name);
    return observer.onRequest?.({ requestId, endpoint, method: head.method, header });
  } catch (cause) {
    failed(cause);
    return undefined;
  }
}
