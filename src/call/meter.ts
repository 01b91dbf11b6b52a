import type { Clock } from "../ledger/calendar.js";
import type { EndReason, UsageSource } from "../prices/charge.js";
import type { Progress, StreamProgress } from "../prices/progress.js";
import type { UsageCounts } from "../prices/usage-counts.js";
import type { HandoverListener, ResponseTerms } from "../providers/direct-call.js";
import type { CheckedCall } from "./checked-call.js";
import { OutputFlow } from "./relay/output-flow.js";

/** What is charged for a call. */
export interface Bill {
  readonly tokens: UsageCounts;
  readonly source: UsageSource;
}

/** The part of a call that a meter needs. */
export type MeteredCall = Pick<CheckedCall, "request" | "demand"> & {
  readonly model: { readonly reasons: boolean };
};

/** Counts what one target has done for a call, and computes the charge, however the call ends. */
export class Meter implements HandoverListener {
  readonly #clock: Clock;
  readonly #call: MeteredCall;
  #handedOverAt: number | undefined;
  #flow: OutputFlow | undefined;
  #hasOutgrown = false;
  #outgrown: Bill | undefined;
  /** Set by the reader of the response; `undefined` until there is one. */
  progress: Progress | undefined;
  /** `undefined`: the model has made the response for this call. */
  terms: ResponseTerms | undefined;

  constructor(call: MeteredCall, clock: Clock) {
    this.#call = call;
    this.#clock = clock;
  }

  handedOver(): void {
    this.#handedOverAt ??= this.#clock.now();
  }

  respondsOn(terms: ResponseTerms): void {
    this.terms = terms;
  }

  notHandedOver(): void {
    this.#handedOverAt = undefined;
  }

  /**
   * More has come than the gateway passes on.
   * @returns whether the request has asked for so much: the upstream has done its work then, and is paid for it. Else it has failed.
   */
  outgrew(): boolean {
    this.#hasOutgrown = this.#call.request.asksForMuch === true;
    return this.#hasOutgrown;
  }

  /** The same for an answer that was read: what it asked for was more than is passed on. @param bill - what it comes to. */
  outgrewWith(bill: Bill): void {
    this.#hasOutgrown = true;
    this.#outgrown = bill;
  }

  /** Whether the upstream got the request, as far as is known. */
  get wasHandedOver(): boolean {
    return this.#handedOverAt !== undefined;
  }

  /** Starts measuring a streamed response. @returns what measures its pace. */
  follow(progress: StreamProgress): OutputFlow {
    this.progress = progress;
    this.#flow = new OutputFlow(this.#clock, this.#reasons());
    return this.#flow;
  }

  /** The tokens so far; `undefined` until there is a response. */
  get seen(): UsageCounts | undefined {
    return this.progress?.tokens;
  }

  /** The usage that the upstream reported for a response of which the client got nothing. */
  get reported(): UsageCounts | undefined {
    const { progress } = this;
    if (progress === undefined || this.#hasOutgrown) return undefined;
    return progress.estimated || progress.hasOutput ? undefined : progress.tokens;
  }

  /**
   * Computes the charge. Completed, with or without its client: all of it. The client has left, and the call ended by that:
   * what was reported, else what the response will have come to. It has left, and then the upstream failed or the gateway
   * closed: what came. It is still there: what came, if output did. The request was never sent: nothing.
   * @param hasLeft - the client left before the end, and no provider refused the request.
   * @returns `undefined`: no charge.
   */
  bill(reason: EndReason, hasLeft: boolean): Bill | undefined {
    const { progress } = this;
    if (reason === "completed" && progress !== undefined) {
      return { tokens: progress.tokens, source: progress.estimated ? "estimated" : "provider" };
    }
    const hasCome = this.#hasOutgrown || progress?.hasOutput === true;
    if (!(hasLeft ? this.#handedOverAt !== undefined : hasCome)) return undefined;
    if (this.#outgrown !== undefined) return this.#outgrown;
    if (progress?.isCounted === true) return { tokens: progress.tokens, source: "provider" };
    if (this.#hasOutgrown) return { tokens: this.#most, source: "partial" };
    // When the upstream failed or the gateway closed, the client is charged only for what was received.
    const tokens = reason === "client_gone" ? this.#leftBehind : this.#came;
    return { tokens, source: "partial" };
  }

  /** For a response that goes on without its client. */
  get #leftBehind(): UsageCounts {
    return this.progress?.chargedIfLeft ?? this.#withHidden(this.seen ?? this.#prompt);
  }

  /** All that the call can cause: what was not read cannot be counted. */
  get #most(): UsageCounts {
    const { promptTokens, outputTokens, most } = this.#call.demand;
    return most ?? { input: promptTokens, cachedInput: 0, output: outputTokens, reasoning: 0 };
  }

  get #prompt(): UsageCounts {
    const { demand } = this.#call;
    if (demand.chargedOnceSent !== undefined) return demand.chargedOnceSent;
    return { input: this.#call.demand.promptTokens, cachedInput: 0, output: 0, reasoning: 0 };
  }

  /** For a response that broke off, or is none: the reported usage, or else the prompt alone. */
  get #came(): UsageCounts {
    const { seen, progress } = this;
    const isSeen = progress?.hasOutput === true || progress?.estimated === false;
    return seen !== undefined && isSeen ? seen : this.#prompt;
  }

  #withHidden(seen: UsageCounts): UsageCounts {
    if (!this.#reasons()) return seen;
    const until = this.#flow?.completeAt ?? this.#clock.now();
    const hidden = hiddenTokens({
      seen: seen.output,
      elapsedMs: until - (this.#handedOverAt ?? until),
      flowMs: this.#flow?.ms ?? 0,
      cap: this.#call.demand.outputTokens,
    });
    return { ...seen, output: seen.output + hidden, reasoning: seen.reasoning + hidden };
  }

  #reasons(): boolean {
    const { model, request } = this.#call;
    return model.reasons || this.progress?.reasons === true || request.asksToReason();
  }
}

/** Tokens per second assumed for a model whose rate is unknown. Few models are faster. */
const presumedRate = 200;

/** Output over less time than this, in milliseconds, is too little to compute a rate from. */
const leastFlowMs = 1000;

/** How a response was generated, until its client left. */
export interface Generation {
  /** Output received, in tokens. */
  seen: number;
  /** Time from sending the request until the client left, in milliseconds. */
  elapsedMs: number;
  /** The part of that time in which output arrived, in milliseconds. */
  flowMs: number;
  /** The most output that the response can have, in tokens. */
  cap: number;
}

/**
 * An upper estimate of the reasoning tokens that a model has generated but not shown. It assumes that a model writes
 * hidden tokens as fast as visible ones. The estimate is what the model can have written in the elapsed time, less the
 * visible output. Both together stay within the cap.
 */
export function hiddenTokens({ seen, elapsedMs, flowMs, cap }: Generation): number {
  const perMs = flowMs < leastFlowMs ? presumedRate / 1000 : seen / flowMs;
  const written = Math.ceil(Math.max(0, elapsedMs) * perMs);
  return Math.max(0, Math.min(written, cap) - seen);
}
