import { isFailure, type RequestCompleted } from "../events/request-completed.js";
import type { RequestEndpoint } from "../events/request-observer.js";
import type {
  AdmittedCall,
  AttemptStarted,
  ObservedRequest,
  Observer,
  RequestStarted,
} from "../gateway/observers/observer.js";

/** A request that is being served. */
export interface LiveRequest {
  readonly requestId: string;
  readonly endpoint: RequestEndpoint;
  /** When it arrived, in epoch milliseconds. */
  readonly startedAt: number;
  /** How long it has been going on, in milliseconds. */
  readonly elapsedMs: number;
  /** `checking`: it is not admitted yet. `calling`: a model server is called. `streaming`: its response has begun. */
  readonly state: "checking" | "calling" | "streaming";
  /** Absent while it is not admitted, as all below. */
  readonly account?: string;
  readonly keyId?: string;
  readonly plan?: string;
  /** The model's id in the catalog. */
  readonly model?: string;
  readonly stream?: boolean;
  /** The credits that are held for it, in micro-credits. */
  readonly heldMicro?: number;
  /** The model server that is called, and how many were before it. Absent before the first call. */
  readonly attempt?: AttemptStarted & { readonly number: number };
}

/** Options of {@link createLiveRequests}. */
export interface LiveRequestsOptions {
  /** The most requests that are listed at once. What comes beyond is counted alone. Default: 500. */
  maxRequests?: number | undefined;
  /** The most failures that are kept; the oldest goes first. Default: 500. */
  maxFailures?: number | undefined;
}

/** What is going on in this process, and what has failed lately: an observer, for pages of operators. */
export interface LiveRequests extends Observer {
  /** The requests that are being served, the oldest first. */
  list(): readonly LiveRequest[];
  /** How many are being served, with those that are not listed. */
  readonly count: number;
  /**
   * The events of the last requests that failed, the newest first: by a status from 500 on, or a stream that broke off. What a
   * model server said of it is in the `error` of the attempts, which may hold parts of prompts.
   */
  failures(): readonly Readonly<RequestCompleted>[];
}

/**
 * Lists the requests in progress and the latest failures of this process. It holds no prompt, no answer, no header and no key.
 * What it holds is bounded, and gone with the process.
 *
 * @throws TypeError when an option is not valid.
 *
 * @example
 * ```ts
 * const live = createLiveRequests();
 * const gateway = createGateway({ observers: [live], ... });
 * app.get("/ops/live", requireOperator, (_, response) => response.json({ requests: live.list(), failures: live.failures() }));
 * ```
 */
export function createLiveRequests(options: LiveRequestsOptions = {}): LiveRequests {
  const { maxRequests = defaultMost, maxFailures = defaultMost } = options;
  for (const [name, most] of Object.entries({ maxRequests, maxFailures })) {
    if (!Number.isInteger(most) || most < 1 || most > highestMost) {
      throw new TypeError(`createLiveRequests: ${name} must be a whole number from 1 to ${highestMost}.`);
    }
  }
  const listed = new Set<FollowedLive>();
  const failed: RequestCompleted[] = [];
  let count = 0;
  return {
    onRequest(request) {
      const { endpoint } = request;
      if (endpoint === undefined) return undefined;
      count++;
      const live = new FollowedLive(request, endpoint, (event) => {
        count--;
        listed.delete(live);
        if (!isFailure(event)) return;
        // The host may write into its event.
        failed.push(structuredClone(event));
        if (failed.length > maxFailures) failed.shift();
      });
      if (listed.size < maxRequests) listed.add(live);
      return live;
    },
    list: () => Array.from(listed, (live) => live.described),
    failures: () => failed.toReversed(),
    get count() {
      return count;
    },
  };
}

const defaultMost = 500;
const highestMost = 100_000;

/** One request that is followed until it ends. */
class FollowedLive implements ObservedRequest {
  readonly onCompleted: (event: RequestCompleted) => void;
  readonly #requestId: string;
  readonly #endpoint: RequestEndpoint;
  readonly #startedAt = Date.now();
  readonly #from = performance.now();
  #call: AdmittedCall | undefined;
  #attempt: AttemptStarted | undefined;
  #attempts = 0;
  #hasResponded = false;

  constructor({ requestId }: RequestStarted, endpoint: RequestEndpoint, ended: (event: RequestCompleted) => void) {
    this.#requestId = requestId;
    this.#endpoint = endpoint;
    this.onCompleted = ended;
  }

  onAdmitted(call: AdmittedCall): void {
    this.#call = call;
  }

  onAttempt(attempt: AttemptStarted): void {
    this.#attempt = attempt;
    this.#attempts++;
  }

  onResponse(): void {
    this.#hasResponded = true;
  }

  get described(): LiveRequest {
    const call = this.#call;
    return {
      requestId: this.#requestId,
      endpoint: this.#endpoint,
      startedAt: this.#startedAt,
      elapsedMs: performance.now() - this.#from,
      state: this.#hasResponded ? "streaming" : this.#attempt === undefined ? "checking" : "calling",
      ...(call && withoutId(call)),
      ...(this.#attempt && { attempt: { ...this.#attempt, number: this.#attempts } }),
    };
  }
}

function withoutId({ callId: _, ...call }: AdmittedCall): Omit<AdmittedCall, "callId"> {
  return call;
}
