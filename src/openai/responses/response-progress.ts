import type { StreamProgress } from "../../metering/progress.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { estimatedTokens, estimateTokens } from "../media/token-estimate.js";
import { readResponsesUsage } from "./responses-usage.js";

/** The progress of an upstream's own response stream. The stream's reader updates it; the meter reads it. */
export class ResponseProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly #promptTokens: number;
  #outputBytes = 0;
  #hasOutput = false;
  #showsReasoning = false;
  #isComplete = false;
  #reported: TokenCounts | undefined;

  /** @param promptTokens - the tokens of the prompt where the upstream reports no usage. */
  constructor(promptTokens: number) {
    this.#promptTokens = promptTokens;
  }

  /** Whether text, a call or the end has arrived. */
  get hasOutput(): boolean {
    return this.#hasOutput;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  get isDone(): boolean {
    return this.#isComplete;
  }

  get seenOutput(): number {
    return estimateTokens(this.#outputBytes);
  }

  get reasons(): boolean {
    return this.#showsReasoning || (this.#reported?.reasoning ?? 0) > 0;
  }

  get isCounted(): boolean {
    return this.#isComplete && this.#reported !== undefined;
  }

  get tokens(): TokenCounts {
    if (this.#reported !== undefined) return this.#reported;
    return estimatedTokens(this.#promptTokens, this.#outputBytes);
  }

  get estimated(): boolean {
    return this.#reported === undefined;
  }

  /** @param bytes - size of model output. */
  outputCame(bytes: number): void {
    this.#outputBytes += bytes;
    this.#hasOutput = true;
  }

  reasoningCame(): void {
    this.#showsReasoning = true;
  }

  /** Ignores everything but a usage object. */
  usageCame(usage: unknown): void {
    this.#reported = readResponsesUsage(usage) ?? this.#reported;
  }

  /** @param bytes - size of output that arrived only with the last event. */
  endCame(bytes: number): void {
    this.outputCame(bytes);
    this.#isComplete = true;
  }
}
