import type { ModelEndpoint, ModelRequest } from "../endpoints/model-endpoint.js";
import type { Clock } from "../ledger/clock.js";
import type { TokenCounts } from "../openai/usage.js";
import type { HandoverListener } from "../providers/direct-call.js";
import type { CatalogModel } from "./catalog.js";
import { hiddenTokens } from "./hidden-output.js";
import { OutputFlow } from "./output-flow.js";
import type { EndReason, UsageSource } from "./settle.js";

/** What has come of an answer. */
export interface Progress {
  /** The upstream's count as far as there is one, else an estimate. The prompt is among them. */
  readonly tokens: TokenCounts;
  /** The upstream has not reported usage. */
  readonly estimated: boolean;
  /** The upstream has reported the usage of the whole answer. */
  readonly isCounted: boolean;
  /** The client has got something of the answer. */
  readonly hasOutput: boolean;
  /** The answer shows that the model reasons. */
  readonly reasons: boolean;
}

/** What a request asks of a model. */
export interface Demand {
  readonly endpoint: ModelEndpoint;
  readonly asked: ModelRequest;
  readonly model: Pick<CatalogModel, "contextLength" | "maxOutputTokens" | "reasons">;
  readonly defaultOutputTokens: number;
  /** As it was held. */
  readonly promptTokens: number;
}

/** What is charged for a call. */
export interface Bill {
  readonly tokens: TokenCounts;
  readonly source: UsageSource;
}

/** Knows what one target has done for a call, and what that comes to, however the call ends. */
export class Meter implements HandoverListener {
  readonly flow: OutputFlow;
  readonly #clock: Clock;
  readonly #demand: Demand;
  #handedOverAt: number | undefined;
  /** Set by whoever reads the answer; `undefined` until there is one. */
  progress: Progress | undefined;

  constructor(demand: Demand, clock: Clock) {
    this.#demand = demand;
    this.#clock = clock;
    this.flow = new OutputFlow(clock);
  }

  handedOver(): void {
    this.#handedOverAt ??= this.#clock.now();
  }

  notHandedOver(): void {
    this.#handedOverAt = undefined;
  }

  /** What has come; `undefined` until there is an answer. */
  get seen(): TokenCounts | undefined {
    const { progress } = this;
    if (progress === undefined || !progress.estimated) return progress?.tokens;
    const { tokens } = progress;
    const cap = this.#outputCap(Number.POSITIVE_INFINITY);
    // Estimates are upper ones. What is over twice the cap is none that the upstream has kept to.
    return tokens.output > cap && tokens.output <= 2 * cap ? { ...tokens, output: cap } : tokens;
  }

  /** What the upstream reported of an answer of which the client had nothing. */
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
    const { promptTokens } = this.#demand;
    const seen = this.seen ?? { input: promptTokens, cachedInput: 0, output: 0, reasoning: 0 };
    // That the upstream failed, or the gateway was closed, is not the client's doing: then only what came counts.
    const tokens = reason === "client_gone" ? this.#withHidden(seen) : seen;
    return { tokens, source: "partial" };
  }

  #withHidden(seen: TokenCounts): TokenCounts {
    if (!this.#reasons()) return seen;
    const now = this.#clock.now();
    const hidden = hiddenTokens({
      seen: seen.output,
      elapsedMs: now - (this.#handedOverAt ?? now),
      flowMs: this.flow.ms,
      cap: this.#outputCap(this.#demand.defaultOutputTokens),
    });
    return { ...seen, output: seen.output + hidden, reasoning: seen.reasoning + hidden };
  }

  /** @param defaultOutputTokens - for a request that caps nothing. */
  #outputCap(defaultOutputTokens: number): number {
    const { endpoint, asked, model } = this.#demand;
    const { contextLength, maxOutputTokens = contextLength } = model;
    return endpoint.outputTokens(asked, { defaultOutputTokens, maxOutputTokens });
  }

  #reasons(): boolean {
    const { endpoint, asked, model } = this.#demand;
    return model.reasons || this.progress?.reasons === true || endpoint.asksToReason?.(asked) === true;
  }
}
