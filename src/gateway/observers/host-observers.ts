import type { RequestCompleted } from "../../events/request-completed.js";
import { type ArrivedRequest, noObserver, type ObserveRequest } from "../../events/request-observer.js";
import { summarizeRequests, type TextsOf } from "../../events/summarize-requests.js";
import { consoleWarn, type GatewayWarning, type Warn } from "../../events/warning.js";
import type { Clock } from "../../ledger/calendar.js";
import type { LedgerEvent } from "../../ledger/guard/ledger-event.js";
import { TimeLimit } from "../../ledger/guard/time-limit.js";
import { callHook, isError, returnedAtOnce } from "../../runtime/host-code.js";
import type { Gateway } from "../gateway.js";
import { type KeptCharacters, KeptTexts } from "../request-log/kept-texts.js";
import type { ResolvedOptions } from "../resolve-options.js";
import { followedRequest, tellCompleted } from "./followed-request.js";
import type { ObservedRequest, Observer, StartedGateway } from "./observer.js";

/** What requests are observed with. */
interface ObservingServices {
  /** Gets the event of each request before the observers, which may write into it. Must not throw. */
  readonly log: ((event: RequestCompleted, texts?: KeptTexts) => void) | undefined;
  /** How much of texts the log keeps beside the event; 0: nothing. */
  readonly maxTextCharacters: number;
  /** Gets the event of each request after the observers. Must not throw. */
  readonly complete: ((event: RequestCompleted) => void) | undefined;
  readonly warnOnce: Warn;
  readonly clock: Clock;
}

/** How long the gateway waits for observers when it closes, in milliseconds. */
const longestCloseMs = 1_000;
/** As of the request log. */
const mostContentCharacters = 65_536;

/** The observers of the options. What they throw harms nothing else. */
export class HostObservers {
  readonly #all: readonly Observer[];
  #started: StartedGateway | undefined;
  #warnOnce: Warn = () => {};

  constructor({ observers }: Pick<ResolvedOptions, "observers">) {
    this.#all = observers;
  }

  /** @returns the options, with hooks for those who want to know of warnings and of the ledger. */
  addTo(options: ResolvedOptions): ResolvedOptions {
    const warned = this.#with("onWarning");
    const told = this.#with("onLedgerEvent");
    const { onWarning, onLedgerEvent } = options;
    const failed = (cause: unknown): void => this.#failed(cause);
    // A warning of a failed warning would not end.
    const ignore = (): void => {};
    return {
      ...options,
      ...(warned.length > 0 && {
        onWarning: (warning: GatewayWarning) => {
          for (const observer of warned) callHook(() => observer.onWarning?.(warning), ignore);
          return (onWarning ?? consoleWarn)(warning);
        },
      }),
      ...(told.length > 0 && {
        onLedgerEvent: (event: LedgerEvent) => {
          for (const observer of told) callHook(() => observer.onLedgerEvent?.(event), failed);
          return onLedgerEvent?.(event);
        },
      }),
    };
  }

  /** @returns `undefined` where nobody looks on, so that requests pay nothing for it. */
  observe({ log, maxTextCharacters, complete, warnOnce, clock }: ObservingServices): ObserveRequest | undefined {
    this.#warnOnce = warnOnce;
    const looking = this.#with("onRequest");
    const observeEnd = summarizeRequests(() => {}, clock);
    const both = bothOf({ log, complete });
    const alone = both && summarizeRequests(both, clock, textsOf({ texts: maxTextCharacters, content: 0 }));
    if (looking.length === 0) return alone;
    return (arrived) => {
      const failed = (cause: unknown): void => this.#failed(cause, arrived.requestId);
      const all = looking.flatMap((observer) => followerOf(observer, arrived, failed) ?? []);
      if (all.length === 0) return (alone ?? (arrived.ended && observeEnd))?.(arrived) ?? noObserver;
      const completed = (event: RequestCompleted, texts?: KeptTexts): void => {
        log?.(event, texts);
        tellCompleted(all, { event, content: texts?.content }, failed);
        complete?.(event);
      };
      const kept = textsOf({ texts: maxTextCharacters, content: contentCharacters(all) });
      return followedRequest(summarizeRequests(completed, clock, kept)(arrived), all, failed);
    };
  }

  start(gateway: Pick<Gateway, "health">): void {
    const failed = (cause: unknown): void => this.#failed(cause);
    const started: StartedGateway = { health: () => gateway.health() };
    this.#started = started;
    for (const observer of this.#all) callHook(() => observer.onStart?.(started), failed);
  }

  async close(): Promise<void> {
    const closing = this.#with("close");
    const started = this.#started;
    if (closing.length === 0 || started === undefined) return;
    const limit = new TimeLimit(longestCloseMs);
    const close = async (observer: Observer): Promise<void> => observer.close?.(started);
    const closed = closing.map((observer) => close(observer).catch((cause: unknown) => this.#failed(cause)));
    await limit.race(Promise.all(closed)).catch(() => {});
    limit.close();
  }

  #with(method: keyof Observer): readonly Observer[] {
    return this.#all.filter((observer) => observer[method] !== undefined);
  }

  #failed(cause: unknown, requestId?: string): void {
    const what = isError(cause) ? cause.name : typeof cause;
    const message = `An observer threw (${what}), which is told once.`;
    this.#warnOnce({ code: "hook_failed", message, cause, ...(requestId !== undefined && { requestId }) });
  }
}

function bothOf({ log, complete }: Pick<ObservingServices, "log" | "complete">): ObservingServices["log"] {
  if (log === undefined || complete === undefined) return log ?? complete;
  return (event, texts) => {
    log(event, texts);
    complete(event);
  };
}

/** What keeps texts of requests; `undefined`: nothing does. */
function textsOf(most: KeptCharacters): TextsOf<KeptTexts> | undefined {
  if (most.texts === 0 && most.content === 0) return undefined;
  return (endpoint) => new KeptTexts(endpoint, most);
}

/** How much of content followers want. */
function contentCharacters(all: readonly ObservedRequest[]): number {
  let most = 0;
  for (const { contentCharacters = 0 } of all)
    if (contentCharacters > most) most = Math.min(contentCharacters, mostContentCharacters);
  return most;
}

function followerOf(
  observer: Observer,
  { requestId, endpoint, head }: ArrivedRequest,
  failed: (cause: unknown) => void,
): ObservedRequest | undefined {
  try {
    const header = (name: string): string | undefined => head.header(name);
    const follower = observer.onRequest?.({ requestId, endpoint, method: head.method, header });
    return returnedAtOnce("onRequest of an observer", follower, failed);
  } catch (cause) {
    failed(cause);
    return undefined;
  }
}
