import type { StreamProgress } from "../../metering/progress.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { estimatedTokens, estimateTokens } from "../media/token-estimate.js";
import { readResponsesUsage } from "./responses-usage.js";

/** What has come of an upstream's own response stream. Its reader writes it; whoever meters the call reads it. */
export class ResponseProgress implements StreamProgress {
  readonly #promptTokens: number;
  #outputBytes = 0;
  #hasOutput = false;
  #showsReasoning = false;
  #isComplete = false;
  #reported: TokenCounts | undefined;

  /** @param promptTokens - what the prompt counts when the upstream does not say. */
  constructor(promptTokens: number) {
    this.#promptTokens = promptTokens;
  }

  /** Text has come, a call, or the end. */
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

  /** @param bytes - of model output. */
  outputCame(bytes: number): void {
    this.#outputBytes += bytes;
    this.#hasOutput = true;
  }

  reasoningCame(): void {
    this.#showsReasoning = true;
  }

  /** Anything but a usage object changes nothing. */
  usageCame(usage: unknown): void {
    this.#reported = readResponsesUsage(usage) ?? this.#reported;
  }

  /** @param bytes - of output that came with the end alone. */
  endCame(bytes: number): void {
    this.outputCame(bytes);
    this.#isComplete = true;
  }
}
