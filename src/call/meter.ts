import type { Clock } from "../ledger/clock.js";
import type { EndReason, UsageSource } from "../metering/outcome.js";
import type { Progress, StreamProgress } from "../metering/progress.js";
import type { TokenCounts } from "../metering/token-counts.js";
import type { HandoverListener } from "../providers/direct-call.js";
import type { Admission } from "./admission.js";
import { hiddenTokens } from "./hidden-tokens.js";
import { OutputFlow } from "./relay/output-flow.js";

/** What is charged for a call. */
export interface Bill {
  readonly tokens: TokenCounts;
  readonly source: UsageSource;
}

/** What a meter must know of its call. */
export type MeteredCall = Pick<Admission, "request" | "demand"> & {
  readonly model: { readonly reasons: boolean };
};

/** Knows what one target has done for a call, and what that comes to, however the call ends. */
export class Meter implements HandoverListener {
  readonly #clock: Clock;
  readonly #call: MeteredCall;
  #handedOverAt: number | undefined;
  #flow: OutputFlow | undefined;
  /** Set by whoever reads the response; `undefined` until there is one. */
  progress: Progress | undefined;

  constructor(call: MeteredCall, clock: Clock) {
    this.#call = call;
    this.#clock = clock;
  }

  handedOver(): void {
    this.#handedOverAt ??= this.#clock.now();
  }

  notHandedOver(): void {
    this.#handedOverAt = undefined;
  }

  /** The response comes as a stream. @returns what measures its pace. */
  follow(progress: StreamProgress): OutputFlow {
    this.progress = progress;
    this.#flow = new OutputFlow(this.#clock, this.#reasons());
    return this.#flow;
  }

  /** What has come; `undefined` until there is a response. */
  get seen(): TokenCounts | undefined {
    const { progress } = this;
    if (progress === undefined || !progress.estimated) return progress?.tokens;
    const { tokens, hasOutput } = progress;
    const { outputCap } = this.#call.demand;
    // Estimates are upper ones. Where a client has got over twice the cap, though, the upstream keeps to none.
    const isOverdrawn = tokens.output > outputCap && !(hasOutput && tokens.output > 2 * outputCap);
    return isOverdrawn ? { ...tokens, output: outputCap } : tokens;
  }

  /** What the upstream reported of a response of which the client had nothing. */
  get reported(): TokenCounts | undefined {
    const { progress } = this;
    return progress === undefined || progress.estimated || progress.hasOutput ? undefined : progress.tokens;
  }

  /**
   * @param hasLeft - the client did not wait for the end.
   * @returns `undefined`: nothing is charged.
   */
  bill(reason: EndReason, hasLeft: boolean): Bill | undefined {
    const { progress } = this;
    if (reason === "completed" && progress !== undefined) {
      return { tokens: progress.tokens, source: progress.estimated ? "estimated" : "provider" };
    }
    const isCharged = hasLeft ? this.#handedOverAt !== undefined : progress?.hasOutput === true;
    if (!isCharged) return undefined;
    if (progress?.isCounted === true) return { tokens: progress.tokens, source: "provider" };
    // That the upstream failed, or the gateway was closed, is not the client's doing: then only what came counts.
    const tokens = reason === "client_gone" ? this.#withHidden(this.seen ?? this.#prompt) : this.#came;
    return { tokens, source: "partial" };
  }

  get #prompt(): TokenCounts {
    return { input: this.#call.demand.promptTokens, cachedInput: 0, output: 0, reasoning: 0 };
  }

  /** Of what is no response after all, the prompt alone, unless the upstream has counted. */
  get #came(): TokenCounts {
    const { seen, progress } = this;
    const isSeen = progress?.hasOutput === true || progress?.estimated === false;
    return seen !== undefined && isSeen ? seen : this.#prompt;
  }

  #withHidden(seen: TokenCounts): TokenCounts {
    if (!this.#reasons()) return seen;
    const now = this.#clock.now();
    const hidden = hiddenTokens({
      seen: seen.output,
      elapsedMs: now - (this.#handedOverAt ?? now),
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
