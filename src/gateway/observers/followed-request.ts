import type { GatewayError } from "../../errors/gateway-error.js";
import type { RequestCompleted } from "../../events/request-completed.js";
import type {
  AttemptResponse,
  AttemptTarget,
  GuardOutcome,
  LedgerOperationCompleted,
  ObservedCharge,
  ObserveLedger,
  Outcome,
  RequestCaller,
  Requested,
  RequestObserver,
  TextsObserver,
} from "../../events/request-observer.js";
import { headerProblem } from "../../hooks/check-admission.js";
import type { Micro } from "../../prices/micro.js";
import type { ResponseMark } from "../../prices/progress.js";
import type { Tags } from "../../prices/tags.js";
import type { CallContent } from "../../protocols/shared/call-content.js";
import { callHook, returnedAtOnce } from "../../runtime/host-code.js";
import type { AdmittedCall, ObservedRequest } from "./observer.js";

type Method = keyof ObservedRequest;

/** Who tells the followers of a request. @param failed - gets what they throw. */
export function followedRequest(
  summary: RequestObserver,
  all: readonly ObservedRequest[],
  failed: (cause: unknown) => void,
): RequestObserver {
  const isTraced = some(all, "run") || some(all, "runAttempt") || some(all, "traceHeaders");
  return isTraced ? new TracedRequest(summary, all, failed) : new FollowedRequest(summary, all, failed);
}

/** A request that has ended. */
interface Ended {
  readonly event: RequestCompleted;
  readonly content: CallContent | undefined;
}

/** They share nothing but the event, and its content those who want it. */
export function tellCompleted(
  all: readonly ObservedRequest[],
  { event, content }: Ended,
  failed: (cause: unknown) => void,
): void {
  for (const follower of all) {
    const wanted = follower.contentCharacters === undefined ? undefined : content;
    callHook(() => follower.onCompleted(event, wanted), failed);
  }
}

/**
 * Tells the host's followers of one request what happens, and the summary that makes the request's event. What one of them
 * throws keeps nothing from the others.
 */
class FollowedRequest implements RequestObserver {
  readonly ledgerOperation: ObserveLedger | undefined;
  readonly texts?: TextsObserver;
  readonly #summary: RequestObserver;
  readonly #all: readonly ObservedRequest[];
  readonly #failed: (cause: unknown) => void;
  #caller: RequestCaller | undefined;
  #model = "";
  #stream = false;

  constructor(summary: RequestObserver, all: readonly ObservedRequest[], failed: (cause: unknown) => void) {
    this.#summary = summary;
    if (summary.texts !== undefined) this.texts = summary.texts;
    this.#all = all;
    this.#failed = failed;
    if (some(all, "onLedgerOperation")) this.ledgerOperation = (operation) => this.#ledgerOperation(operation);
  }

  authenticated(caller: RequestCaller): void {
    this.#caller = caller;
    this.#summary.authenticated(caller);
  }

  requested(asked: Requested, modelId: string | undefined): void {
    this.#model = modelId ?? "";
    this.#stream = asked.stream;
    this.#summary.requested(asked, modelId);
  }

  admitted(callId: string, heldMicro: Micro): void {
    this.#summary.admitted(callId, heldMicro);
    if (this.#caller !== undefined && some(this.#all, "onAdmitted")) this.#admitted(callId, heldMicro, this.#caller);
  }

  tagged(tags: Tags): void {
    this.#summary.tagged(tags);
  }

  guarded(outcomes: readonly GuardOutcome[], ms: number): void {
    this.#summary.guarded(outcomes, ms);
  }

  attemptStarted(target: AttemptTarget): void {
    this.#summary.attemptStarted(target);
    const attempt = { provider: target.providerName, model: target.upstreamModel };
    this.#tell((follower) => follower.onAttempt?.(attempt));
  }

  attemptResponded(response: AttemptResponse): void {
    this.#summary.attemptResponded(response);
  }

  attemptAnswered(): void {
    this.#summary.attemptAnswered();
  }

  attemptFailed(error: GatewayError, costMicro: Micro | undefined): void {
    this.#summary.attemptFailed(error, costMicro);
  }

  clientStalled(): void {
    this.#summary.clientStalled();
  }

  ended(outcome: Outcome, charge: ObservedCharge, mark: ResponseMark | undefined): void {
    this.#summary.ended(outcome, charge, mark);
  }

  refused(errorCode: string): void {
    this.#summary.refused(errorCode);
  }

  responded(status: number): void {
    this.#tell((follower) => follower.onResponse?.(status));
    this.#summary.responded(status);
  }

  /** The work is done once, whatever those around it do, and what it throws is thrown. */
  protected within<T>(method: "run" | "runAttempt", work: () => T): T {
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

  protected firstTraceHeaders(): Readonly<Record<string, string>> | undefined {
    let headers: Readonly<Record<string, string>> | undefined;
    this.#tell((follower) => {
      const returned = returnedAtOnce("traceHeaders of an observer", follower.traceHeaders?.(), this.#failed);
      if (returned !== undefined) headers ??= checkTraceHeaders(returned);
    });
    return headers;
  }

  #ledgerOperation(operation: LedgerOperationCompleted): void {
    this.#tell((follower) => follower.onLedgerOperation?.(operation));
  }

  #admitted(callId: string, heldMicro: Micro, { account, keyId, plan }: RequestCaller): void {
    const admitted: AdmittedCall = {
      callId,
      account,
      ...(keyId === undefined ? undefined : { keyId }),
      ...(plan === undefined ? undefined : { plan }),
      model: this.#model,
      stream: this.#stream,
      heldMicro,
    };
    this.#tell((follower) => follower.onAdmitted?.(admitted));
  }

  #tell(what: (follower: ObservedRequest) => void): void {
    for (const follower of this.#all) callHook(() => what(follower), this.#failed);
  }
}

/** A request with followers who put something around its work, or have headers for model servers. */
class TracedRequest extends FollowedRequest {
  run<T>(work: () => T): T {
    return this.within("run", work);
  }

  runAttempt<T>(call: () => T): T {
    return this.within("runAttempt", call);
  }

  traceHeaders(): Readonly<Record<string, string>> | undefined {
    return this.firstTraceHeaders();
  }
}

function some(all: readonly ObservedRequest[], method: Method): boolean {
  return all.some((follower) => follower[method] !== undefined);
}

/** @returns what the observer does: a promise that it should not have made may reject. */
function withinOne(follower: ObservedRequest, method: "run" | "runAttempt", work: () => void): unknown {
  return follower[method] === undefined ? work() : follower[method](work);
}

/** @throws TypeError when no model server could get these headers, or they are not the host's to set. */
function checkTraceHeaders(headers: unknown): Readonly<Record<string, string>> {
  if (typeof headers !== "object" || headers === null) {
    throw new TypeError('traceHeaders of an observer must return an object, such as { traceparent: "00-…" }.');
  }
  for (const [name, value] of Object.entries(headers)) {
    const problem = typeof value === "string" ? headerProblem(name, value) : "must be a text";
    if (problem !== undefined) throw new TypeError(`traceHeaders of an observer: ${JSON.stringify(name)} ${problem}.`);
  }
  return headers as Readonly<Record<string, string>>;
}
