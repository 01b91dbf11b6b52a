import type { GatewayError } from "../errors/gateway-error.js";
import { UpstreamStatusError } from "../errors/upstream-fault.js";
import type { Clock } from "../ledger/calendar.js";
import type { AccountCredits } from "../ledger/credit-ledger.js";
import { remaining } from "../ledger/window-states.js";
import type { Micro } from "../prices/micro.js";
import type { ResponseMark } from "../prices/progress.js";
import type { Tags } from "../prices/tags.js";
import { noTokens } from "../prices/usage-counts.js";
import { redactKeys } from "../redaction/redact.js";
import type { BackgroundWork } from "../runtime/background-work.js";
import { hookWork, isError } from "../runtime/host-code.js";
import type { RemainingCredits, RequestCompleted, UpstreamAttempt } from "./request-completed.js";
import {
  type AttemptResponse,
  type AttemptTarget,
  endReasonOf,
  type GuardOutcome,
  type ObservedCharge,
  type ObserveRequest,
  type Outcome,
  type RequestCaller,
  type RequestEndpoint,
  type Requested,
  type RequestObserver,
  type TextsObserver,
} from "./request-observer.js";
import type { Warn } from "./warning.js";

type OnCompleted = (event: RequestCompleted) => void;

/** Keeps texts of a request for this endpoint. */
export type TextsOf<Texts extends TextsObserver> = (endpoint: RequestEndpoint | undefined) => Texts;

/**
 * Observes requests, and passes on one event for each.
 * @param complete - gets the texts with it, if there are. Must not throw.
 * @param textsOf - `undefined`: none are kept, and that costs nothing.
 */
export function summarizeRequests<Texts extends TextsObserver>(
  complete: (event: RequestCompleted, texts?: Texts) => void,
  clock: Clock,
  textsOf?: TextsOf<Texts>,
): ObserveRequest {
  if (textsOf === undefined) {
    return ({ requestId, endpoint, ended }) =>
      new RequestSummary(
        requestId,
        endpoint,
        clock.now(),
        ended === undefined ? complete : andThenEnd(complete, ended),
      );
  }
  return ({ requestId, endpoint, ended }) => {
    const texts = textsOf(endpoint);
    const withTexts = (event: RequestCompleted): void => complete(event, texts);
    const told = ended === undefined ? withTexts : andThenEnd(withTexts, ended);
    return Object.assign(new RequestSummary(requestId, endpoint, clock.now(), told), { texts });
  };
}

/** The host's `onRequestCompleted`. A hook that fails causes a warning; one that is async is noted as work. */
export function completedHook(hook: OnCompleted, background: BackgroundWork, warn: Warn): OnCompleted {
  return (event) => {
    const { requestId, callId = requestId } = event;
    const work = hookWork(
      () => hook(event),
      (cause) => warn({ code: "hook_failed", message: "onRequestCompleted failed.", cause, requestId }),
    );
    if (work !== undefined) background.add(work, callId);
  };
}

/** A client may send a name of any length. No id of a model is longer. */
const longestRequestedModel = 256;

/** How the call to the upstreams ended, and when. */
interface End {
  readonly outcome: Outcome;
  readonly charge: ObservedCharge;
  readonly mark: ResponseMark | undefined;
  /** By the monotonic clock, in milliseconds. */
  readonly at: number;
}

/** Collects one {@link RequestCompleted} event while a request is served, and passes it to the host's hook. */
class RequestSummary implements RequestObserver {
  readonly #requestId: string;
  readonly #endpoint: RequestEndpoint | undefined;
  readonly #complete: (event: RequestCompleted) => void;
  readonly #arrivedAt: number;
  readonly #startedAt = performance.now();
  #caller: RequestCaller | undefined;
  #model: string | undefined;
  #requestedModel: string | undefined;
  #stream = false;
  #tags: Tags | undefined;
  #errorCode: string | undefined;
  #clientStalled = false;
  #status: number | undefined;
  #callId: string | undefined;
  #heldMicro: Micro | undefined;
  #guards: { readonly outcomes: readonly GuardOutcome[]; readonly ms: number } | undefined;
  #upstreamStartedAt: number | undefined;
  /** The target of the attempt that has not failed. */
  #target: AttemptTarget | undefined;
  #attemptStartedAt = 0;
  #isAnswered = false;
  #headers: Readonly<Record<string, string>> | undefined;
  readonly #failedAttempts: UpstreamAttempt[] = [];
  #firstByteMs: number | undefined;
  #end: End | undefined;
  #isComplete = false;

  constructor(
    requestId: string,
    endpoint: RequestEndpoint | undefined,
    arrivedAt: number,
    complete: (event: RequestCompleted) => void,
  ) {
    this.#requestId = requestId;
    this.#arrivedAt = arrivedAt;
    this.#endpoint = endpoint;
    this.#complete = complete;
  }

  authenticated(caller: RequestCaller): void {
    this.#caller = caller;
    this.#tags = caller.tags;
  }

  requested({ model, stream }: Requested, modelId: string | undefined): void {
    this.#model = modelId;
    if (model !== modelId) this.#requestedModel = model.slice(0, longestRequestedModel);
    this.#stream = stream;
  }

  admitted(callId: string, heldMicro: Micro): void {
    this.#callId = callId;
    this.#heldMicro = heldMicro;
  }

  tagged(tags: Tags): void {
    this.#tags = tags;
  }

  guarded(outcomes: readonly GuardOutcome[], ms: number): void {
    this.#guards = { outcomes, ms };
  }

  attemptStarted(target: AttemptTarget): void {
    this.#attemptStartedAt = performance.now();
    this.#upstreamStartedAt ??= this.#attemptStartedAt;
    this.#target = target;
    this.#isAnswered = false;
    this.#headers = undefined;
  }

  attemptResponded({ headers }: AttemptResponse): void {
    this.#headers = headers;
  }

  attemptAnswered(): void {
    this.#isAnswered = true;
  }

  attemptFailed(error: GatewayError, costMicro: Micro | undefined): void {
    const target = this.#target;
    this.#target = undefined;
    if (target === undefined) return;
    this.#failedAttempts.push(
      this.#attempt(target, { reason: endReasonOf(error), error }, performance.now(), costMicro),
    );
  }

  clientStalled(): void {
    this.#clientStalled = true;
  }

  ended(outcome: Outcome, charge: ObservedCharge, mark: ResponseMark | undefined): void {
    // The time of guards is not the upstream's.
    this.#end = { outcome, charge, mark, at: performance.now() - (this.#guards?.ms ?? 0) };
    if (outcome.error !== undefined) this.#errorCode = outcome.error.code;
    if (this.#status !== undefined) this.#emit();
  }

  refused(errorCode: string): void {
    this.#errorCode = errorCode;
  }

  responded(status: number): void {
    this.#status = status;
    if (status !== 499) this.#firstByteMs = performance.now() - this.#startedAt;
    // A call ends before its whole response begins, and a stream, of events or of bytes, after that.
    const isOpen = status === 200 && this.#callId !== undefined && this.#end === undefined;
    if (!isOpen) this.#emit();
  }

  #emit(): void {
    if (this.#isComplete) return;
    this.#isComplete = true;
    this.#complete(this.#event());
  }

  #event(): RequestCompleted {
    const { outcome, charge, mark, at } = this.#end ?? {};
    // Of another status the client got an error, whatever an upstream began to send.
    const { responseId, finishReason } = this.#status === 200 && mark !== undefined ? mark : noMark;
    const caller = this.#caller;
    const startedAt = this.#upstreamStartedAt;
    return {
      requestId: this.#requestId,
      ...(this.#callId === undefined ? undefined : { callId: this.#callId }),
      startedAt: this.#arrivedAt,
      endpoint: this.#endpoint,
      ...(caller && { source: caller.source, account: caller.account }),
      ...(caller?.plan === undefined ? undefined : { plan: caller.plan }),
      ...(caller?.keyId === undefined ? undefined : { keyId: caller.keyId }),
      ...(this.#model === undefined ? undefined : { model: this.#model }),
      ...(this.#requestedModel === undefined ? undefined : { requestedModel: this.#requestedModel }),
      stream: this.#stream,
      ...(this.#tags === undefined ? undefined : { tags: this.#tags }),
      status: this.#status ?? 0,
      ...(this.#errorCode === undefined ? undefined : { errorCode: this.#errorCode }),
      ...(outcome === undefined ? undefined : { endReason: outcome.reason }),
      ...(responseId === undefined ? undefined : { responseId }),
      ...(finishReason === undefined ? undefined : { finishReason }),
      ...(outcome?.reason === "client_gone" ? { disconnect: outcome.disconnect ?? "cancelled" } : undefined),
      ...(this.#clientStalled ? { stalled: true } : undefined),
      attempts: this.#attempts(),
      ...(this.#guards === undefined ? undefined : { guards: this.#guards.outcomes }),
      // The host may write into its own.
      tokens: charge?.source === undefined ? { ...noTokens } : charge.tokens,
      chargedMicro: charge?.micro ?? 0,
      ...(charge?.cost === undefined ? undefined : { costMicro: charge.cost.micro }),
      ...(this.#heldMicro === undefined ? undefined : { heldMicro: this.#heldMicro }),
      ...(charge?.funding === undefined ? undefined : { funding: charge.funding }),
      ...(charge === undefined || charge.prepaidMicro === 0 ? undefined : { prepaidMicro: charge.prepaidMicro }),
      // A model that is free is reserved without the plan's limits, so its windows would seem unlimited.
      ...(charge?.funding === undefined || charge.credits === undefined
        ? undefined
        : { remaining: remainingOf(charge.credits) }),
      ...(charge?.source === undefined ? undefined : { usageSource: charge.source }),
      durations: {
        total: performance.now() - this.#startedAt,
        ...(startedAt === undefined || at === undefined ? undefined : { upstream: at - startedAt }),
        ...(this.#guards === undefined ? undefined : { guards: this.#guards.ms }),
        ...(this.#firstByteMs === undefined ? undefined : { firstByte: this.#firstByteMs }),
      },
    };
  }

  #attempts(): UpstreamAttempt[] {
    const failed = this.#failedAttempts;
    if (this.#target === undefined || this.#end === undefined) return failed;
    const { outcome, at, charge } = this.#end;
    return [...failed, this.#attempt(this.#target, outcome, at, charge.cost?.lastMicro)];
  }

  #attempt(target: AttemptTarget, outcome: Outcome, at: number, costMicro: Micro | undefined): UpstreamAttempt {
    const { error, reason } = outcome;
    const cause = error?.cause;
    const status = this.#isAnswered ? 200 : cause instanceof UpstreamStatusError ? cause.status : undefined;
    const upstreamRequestId = upstreamIdOf(this.#headers, target);
    return {
      provider: target.providerName,
      model: target.upstreamModel,
      ...(status === undefined ? undefined : { status }),
      outcome: reason,
      startedMs: this.#attemptStartedAt - this.#startedAt,
      durationMs: at - this.#attemptStartedAt,
      ...(upstreamRequestId === undefined ? undefined : { upstreamRequestId }),
      ...(error === undefined ? undefined : { error: attemptError(error, target) }),
      ...(costMicro === undefined ? undefined : { costMicro }),
    };
  }
}

const noMark: ResponseMark = { responseId: undefined, finishReason: undefined };

function remainingOf({ windows: { session, week, month }, prepaid }: AccountCredits): RemainingCredits {
  const ofWindows = { session: remaining(session), week: remaining(week), month: remaining(month) };
  return prepaid === undefined ? ofWindows : { ...ofWindows, prepaid: Math.max(0, prepaid.balanceMicro) };
}

const longestUpstreamId = 256;

/** The names are those of OpenAI and most others, of Anthropic, and of Azure. An id with a key in it is none. */
function upstreamIdOf(
  headers: Readonly<Record<string, string>> | undefined,
  { secrets }: AttemptTarget,
): string | undefined {
  // A host's own provider may leave its headers out.
  const id = headers?.["x-request-id"] ?? headers?.["request-id"] ?? headers?.["apim-request-id"];
  if (typeof id !== "string") return undefined;
  try {
    for (const key of secrets?.().keys ?? []) if (key !== "" && id.includes(key)) return undefined;
  } catch {
    // A provider of the host's may fail at it.
  }
  return id.slice(0, longestUpstreamId);
}

function andThenEnd(complete: OnCompleted, ended: () => void): OnCompleted {
  return (event) => {
    complete(event);
    ended();
  };
}

const longestText = 1000;

/** Line breaks and the like, by which a text could look like several entries of a log. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is about control characters
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** What went wrong, for the operator: in the upstream's words where it gave some. Keys are taken out. */
function attemptError({ cause, message }: GatewayError, { secrets }: AttemptTarget): string {
  const said = cause instanceof UpstreamStatusError ? cause.said : undefined;
  const ours = isError(cause) ? cause.message : message;
  const text = redactKeys(said === undefined || said === "" ? ours : `${ours} ${said}`, secrets);
  return text.replace(unprintable, " ").slice(0, longestText);
}
