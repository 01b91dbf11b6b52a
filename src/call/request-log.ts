import type { Caller } from "../access/accounts.js";
import type { GatewayError } from "../errors/gateway-error.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import type { RequestCompleted, UpstreamAttempt } from "../events/request-completed.js";
import type { Warn } from "../events/warning.js";
import type { GatewayResponse } from "../http/message.js";
import type { EndReason } from "../metering/outcome.js";
import { noTokens } from "../metering/token-counts.js";
import { endReasonOf, type Outcome } from "../routing/outcome.js";
import type { Target } from "../routing/target.js";
import { makeRequestId } from "./request-id.js";
import type { Charge } from "./settle.js";

/** Gathers, on a request's way, what its one {@link RequestCompleted} event tells. Nothing else reads it. */
export class RequestLog {
  readonly requestId = makeRequestId();
  readonly #started: number;
  readonly #warn: Warn;
  #completed: ((event: RequestCompleted) => void) | undefined;
  #endpoint: RequestCompleted["endpoint"];
  #caller: Caller | undefined;
  #model: string | undefined;
  #stream = false;
  #errorCode: string | undefined;
  #clientStalled = false;
  #status = 0;
  #upstreamStarted: number | undefined;
  /** Of the attempt that has not failed. */
  #target: Target | undefined;
  #attemptStarted = 0;
  #upstreamAnswered = false;
  #failedAttempts: UpstreamAttempt[] | undefined;
  #firstByte: number | undefined;
  #answered = false;
  #pending: { outcome: Outcome; charge: Charge; upstream: number | undefined; now: number } | undefined;
  #streaming = false;

  constructor(
    endpoint: RequestCompleted["endpoint"] | "healthz",
    hooks: { completed: ((event: RequestCompleted) => void) | undefined; warn: Warn },
  ) {
    this.#endpoint = endpoint === "healthz" ? undefined : endpoint;
    this.#completed = endpoint === "healthz" ? undefined : hooks.completed;
    this.#warn = hooks.warn;
    this.#started = this.#now();
  }

  authenticated(caller: Caller): void {
    this.#caller = caller;
  }

  asked(model: string, stream: boolean): void {
    this.#model = model;
    this.#stream = stream;
  }

  upstreamCalled(target: Target): void {
    this.#attemptStarted = this.#now();
    this.#upstreamStarted ??= this.#attemptStarted;
    this.#target = target;
    this.#upstreamAnswered = false;
  }

  /** By a 200. */
  upstreamAnswered(): void {
    this.#upstreamAnswered = true;
  }

  /** The attempt has failed, and the call may go on with another one. */
  attemptFailed(error: GatewayError): void {
    const target = this.#target;
    this.#target = undefined;
    if (target === undefined || this.#completed === undefined) return;
    this.#failedAttempts ??= [];
    this.#failedAttempts.push(this.#attempt(target, endReasonOf(error), error, performance.now()));
  }

  /** The client is given up: it takes nothing of its answer. */
  clientStalled(): void {
    this.#clientStalled = true;
  }

  failed(errorCode: string): void {
    this.#errorCode = errorCode;
  }

  /** The call to the upstream has ended and is settled. */
  ended(outcome: Outcome, charge: Charge): void {
    if (this.#completed === undefined) return;
    const started = this.#upstreamStarted;
    const now = started === undefined ? 0 : performance.now();
    this.#pending = { outcome, charge, upstream: started === undefined ? undefined : now - started, now };
    if (outcome.error !== undefined) this.#errorCode = outcome.error.code;
    if (this.#answered) this.#emit();
  }

  /** The answer is known; that of a stream is complete when the call has ended. */
  answered(response: GatewayResponse): void {
    if (this.#completed === undefined) return;
    this.#answered = true;
    this.#status = response.status;
    this.#streaming = response.status === 200 && this.#stream;
    if (response.status !== 499) this.#firstByte = performance.now() - this.#started;
    if (!this.#streaming || this.#pending !== undefined) this.#emit();
  }

  /** Where nobody is told, the clock need not be read. */
  #now(): number {
    return this.#completed === undefined ? 0 : performance.now();
  }

  #emit(): void {
    const completed = this.#completed;
    if (completed === undefined) return;
    this.#completed = undefined;
    // A hook may be async, whatever its type says: its rejection must not end the process.
    new Promise((resolve) => resolve(completed(this.#event()))).catch((cause: unknown) => {
      this.#warn({ code: "hook_failed", message: "onRequestCompleted failed.", cause, requestId: this.requestId });
    });
  }

  #event(): RequestCompleted {
    const { outcome, charge, upstream } = this.#pending ?? {};
    const caller = this.#caller;
    return {
      requestId: this.requestId,
      endpoint: this.#endpoint,
      ...(caller === undefined ? undefined : { keyId: caller.keyId, account: caller.account, plan: caller.plan }),
      ...(this.#model === undefined ? undefined : { model: this.#model }),
      stream: this.#stream,
      status: this.#status,
      ...(this.#errorCode === undefined ? undefined : { errorCode: this.#errorCode }),
      ...(outcome === undefined ? undefined : { endReason: outcome.reason }),
      ...(outcome?.reason === "client_gone" ? { disconnect: outcome.disconnect ?? "cancelled" } : undefined),
      ...(this.#clientStalled ? { stalled: true } : undefined),
      attempts: this.#attempts(),
      tokens: charge?.source === undefined ? noTokens : charge.tokens,
      chargedMicro: charge?.micro ?? 0,
      ...(charge?.source === undefined ? undefined : { usageSource: charge.source }),
      durations: {
        total: performance.now() - this.#started,
        ...(upstream === undefined ? undefined : { upstream }),
        ...(this.#firstByte === undefined ? undefined : { firstByte: this.#firstByte }),
      },
    };
  }

  #attempts(): UpstreamAttempt[] {
    const failed = this.#failedAttempts ?? [];
    if (this.#target === undefined || this.#pending === undefined) return failed;
    const { outcome, now } = this.#pending;
    return [...failed, this.#attempt(this.#target, outcome.reason, outcome.error, now)];
  }

  #attempt(target: Target, outcome: EndReason, error: GatewayError | undefined, now: number): UpstreamAttempt {
    const { cause } = error ?? {};
    const status = this.#upstreamAnswered ? 200 : cause instanceof UpstreamStatusError ? cause.status : undefined;
    return {
      provider: target.providerName,
      model: target.upstreamModel,
      ...(status === undefined ? undefined : { status }),
      outcome,
      durationMs: now - this.#attemptStarted,
    };
  }
}
