import type { GatewayError } from "../errors/gateway-error.js";
import { isRefusal } from "../errors/refusal.js";
import type { AccountCredits } from "../ledger/credit-ledger.js";
import type { Funding } from "../ledger/window-states.js";
import type { Charge, Disconnect, EndReason } from "../prices/charge.js";
import type { Micro } from "../prices/micro.js";
import type { OperationName } from "../prices/operation-name.js";
import type { ResponseMark } from "../prices/progress.js";
import type { Tags } from "../prices/tags.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";

/** How a caller is known: by an API key, by a session of the host's, or by the host's own code in this process. */
export type CallerSource = "key" | "session" | "in_process";

/** Whose request it is. */
export interface RequestCaller {
  readonly source: CallerSource;
  /** `undefined` where no API key was sent. */
  readonly keyId: string | undefined;
  readonly account: string;
  /** `undefined` while only the account's record could name one. */
  readonly plan: string | undefined;
  /** Those of all of the caller's calls. */
  readonly tags?: Tags | undefined;
}

/** What a client asks for. */
export interface Requested {
  /** The name of a model: an id, an alias, or one that no model has. */
  readonly model: string;
  readonly stream: boolean;
}

/** The target of an attempt. */
export interface AttemptTarget {
  /** The provider's name in the options. */
  readonly providerName: string;
  /** The upstream's name for the model. */
  readonly upstreamModel: string;
  /** What must not get out of what the upstream says. */
  readonly secrets: (() => UpstreamSecrets) | undefined;
}

/** What a target responded with. */
export interface AttemptResponse {
  readonly headers: Readonly<Record<string, string>>;
}

/** What a call cost, and the account's credits after it. */
export interface ObservedCharge extends Charge {
  /** `undefined` when the call used no ledger. For a model that is free, what is left of its rates alone counts. */
  readonly credits: AccountCredits | undefined;
  /** `undefined` when the call used no ledger, or its model is free. */
  readonly funding: Funding | undefined;
  /** What of the charge prepaid credits pay. */
  readonly prepaidMicro: Micro;
}

/** What a request is for: an operation, or another endpoint of the gateway. */
export type RequestEndpoint =
  | OperationName
  | "models"
  | "model"
  | "usage"
  | "count_tokens"
  | "input_tokens"
  | "response"
  | "input_items";

/** Keeps the beginnings of what a call was asked and answered. Its methods do not throw. */
export interface TextsObserver {
  /** @param body - what the client has sent. */
  asked(body: Uint8Array): void;
  /** @param body - the whole answer, as its client gets it. */
  answered(body: Uint8Array | string): void;
  /** @param piece - the next bytes of a streamed answer, as its client gets them. */
  streamed(piece: Uint8Array): void;
}

/** Observes one request. Its methods are called in this order; none may throw. */
export interface RequestObserver {
  /** Absent: nobody keeps texts. */
  readonly texts?: TextsObserver;
  /** Does the work of the request, so that what is begun in it belongs to the request. Absent: nothing has to be done for that. */
  run?<T>(work: () => T): T;
  /** Calls a target, likewise. */
  runAttempt?<T>(call: () => T): T;
  /** The headers that tell the target of the trace, in place of those of the client. `undefined`, or absent: those of the client. */
  traceHeaders?(): Readonly<Record<string, string>> | undefined;
  /** Told of what the request has asked of the ledger. Absent: nobody wants to know. */
  readonly ledgerOperation?: ObserveLedger | undefined;
  /** The caller is known. A key may be expired or revoked. Comes again when its account's record names the plan. */
  authenticated(caller: RequestCaller): void;
  /**
   * The request was understood. Whether the key may use the model is not known yet.
   * @param modelId - `undefined`: the catalog does not have it.
   */
  requested(asked: Requested, modelId: string | undefined): void;
  /**
   * The call is admitted.
   * @param callId - its id in the ledger.
   * @param heldMicro - the credits that are held for it.
   */
  admitted(callId: string, heldMicro: Micro): void;
  /** The host's hook or guard has tagged the call. @param tags - all of the call's. */
  tagged(tags: Tags): void;
  /** The host's guards have checked the answer. @param ms - how long they took together. */
  guarded(outcomes: readonly GuardOutcome[], ms: number): void;
  /** A call to this target begins. */
  attemptStarted(target: AttemptTarget): void;
  /** The target responded, whatever the status. @param response - its headers may cost time to read. */
  attemptResponded(response: AttemptResponse): void;
  /** The status was a 200. */
  attemptAnswered(): void;
  /**
   * The attempt failed before the client got anything. Another one may follow.
   * @param costMicro - what it cost the operator; `undefined`: it is not known.
   */
  attemptFailed(error: GatewayError, costMicro: Micro | undefined): void;
  /** The client took nothing of its response for too long, and counts as one that has left. */
  clientStalled(): void;
  /** The call has ended and is settled. @param mark - `undefined`: no attempt has got so far. */
  ended(outcome: Outcome, charge: ObservedCharge, mark: ResponseMark | undefined): void;
  /** The request is refused. @param errorCode - the `code` of the error. */
  refused(errorCode: string): void;
  /** The response's status is known. A stream with status 200 is complete when the call has ended. */
  responded(status: number): void;
}

/** What is known of a request when it arrives. */
export interface ArrivedRequest {
  readonly requestId: string;
  /** `undefined` for paths that the gateway does not have. */
  readonly endpoint: RequestEndpoint | undefined;
  /** The request's method, and its headers by their names in lower case. */
  readonly head: { readonly method: string; header(name: string): string | undefined };
  /** Called after everybody was told that the request has ended. Must not throw. Absent: nobody waits for that. */
  readonly ended?: (() => void) | undefined;
}

/** Starts observing a request when it arrives. */
export type ObserveRequest = (request: ArrivedRequest) => RequestObserver;

function ignore(): void {}

/** Observes nothing. */
export const noObserver: RequestObserver = {
  authenticated: ignore,
  requested: ignore,
  admitted: ignore,
  tagged: ignore,
  guarded: ignore,
  attemptStarted: ignore,
  attemptResponded: ignore,
  attemptAnswered: ignore,
  attemptFailed: ignore,
  clientStalled: ignore,
  ended: ignore,
  refused: ignore,
  responded: ignore,
};

/** How a call ended. The meter computes its cost. */
export interface Outcome {
  readonly reason: EndReason;
  /** The error that the client got, if any. */
  readonly error?: GatewayError;
  /** What happened to the response after its client left; absent: it was aborted at once. */
  readonly disconnect?: Disconnect;
}

/** The end reason for this error of the upstream or its provider. */
export function endReasonOf(error: GatewayError): EndReason {
  const { status } = error;
  if (isRefusal(error)) return "upstream_refused";
  if (status === 504) return "upstream_timeout";
  return status < 500 ? "upstream_refused" : "upstream_failed";
}

/** The result of a guard for one response, and how long it took. */
export interface GuardOutcome {
  /** The guard's name in the options. */
  name: string;
  /** `failed`: it threw, took too long, or returned what is not valid, or could not be given the answer. */
  verdict: "passed" | "refused" | "failed";
  /** Its own code for a refusal; absent when it gave none. */
  code?: string;
  durationMs: number;
}

/** What a request has asked of the ledger, once it is over. */
export interface LedgerOperationCompleted {
  readonly operation: "reserve" | "settle";
  /**
   * `held`, `settled`: the ledger has done it. `denied`: it has refused to hold the credits. `kept`: it is away, and the
   * settlement is sent later. `failed`: the call was refused, or its charge is lost.
   */
  readonly outcome: "held" | "denied" | "settled" | "kept" | "failed";
  /** Whether it took a store, and not the memory of this process alone. */
  readonly isRemote: boolean;
  readonly durationMs: number;
}

/** By the call whose operation it is. */
export type ObserveLedger = (operation: LedgerOperationCompleted) => void;
