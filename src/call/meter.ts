import type { CatalogModel } from "../access/catalog.js";
import type { Clock } from "../ledger/clock.js";
import type { EndReason, UsageSource } from "../metering/outcome.js";
import type { TokenCounts } from "../metering/token-counts.js";
import type { ModelEndpoint, ModelRequest } from "../operations/model-endpoint.js";
import type { HandoverListener } from "../providers/direct-call.js";
import { hiddenTokens } from "./hidden-output.js";
import { OutputFlow } from "./relay/output-flow.js";

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
  readonly #clock: Clock;
  readonly #demand: Demand;
  #handedOverAt: number | undefined;
  #flow: OutputFlow | undefined;
  /** Set by whoever reads the answer; `undefined` until there is one. */
  progress: Progress | undefined;

  constructor(demand: Demand, clock: Clock) {
    this.#demand = demand;
    this.#clock = clock;
  }

  handedOver(): void {
    this.#handedOverAt ??= this.#clock.now();
  }

  notHandedOver(): void {
    this.#handedOverAt = undefined;
  }

  /** An answer comes as a stream. @returns what measures its pace. */
  follow(stream: Progress): OutputFlow {
    this.progress = stream;
    this.#flow = new OutputFlow(this.#clock, this.#reasons());
    return this.#flow;
  }

  /** What has come; `undefined` until there is an answer. */
  get seen(): TokenCounts | undefined {
    const { progress } = this;
    if (progress === undefined || !progress.estimated) return progress?.tokens;
    const { tokens, hasOutput } = progress;
    const cap = this.#outputCap(Number.POSITIVE_INFINITY);
    // Estimates are upper ones. Where a client has got over twice the cap, though, the upstream keeps to none.
    const isOverdrawn = tokens.output > cap && !(hasOutput && tokens.output > 2 * cap);
    return isOverdrawn ? { ...tokens, output: cap } : tokens;
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
    // That the upstream failed, or the gateway was closed, is not the client's doing: then only what came counts.
    const tokens = reason === "client_gone" ? this.#withHidden(this.seen ?? this.#prompt) : this.#came;
    return { tokens, source: "partial" };
  }

  get #prompt(): TokenCounts {
    return { input: this.#demand.promptTokens, cachedInput: 0, output: 0, reasoning: 0 };
  }

  /** Of what is no answer after all, the prompt alone, unless the upstream has counted. */
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
