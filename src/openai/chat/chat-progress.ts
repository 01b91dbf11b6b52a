import type { StreamProgress } from "../../metering/progress.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { estimateTokens } from "../media/token-estimate.js";
import { readUsage } from "../usage.js";

/** What has come of a chat completion's stream. Its reader writes it; whoever meters the call reads it. */
export class ChatProgress implements StreamProgress {
  readonly #promptTokens: number;
  #begun = 0;
  #finished = 0;
  #outputBytes = 0;
  #showsReasoning = false;
  #reported: TokenCounts | undefined;
  #reportedObject: Record<string, unknown> | undefined;
  /** The report came with the end of the response, or behind it. */
  #reportIsFinal = false;
  #isDone = false;

  /** @param promptTokens - what the prompt counts when the upstream does not say. */
  constructor(promptTokens: number) {
    this.#promptTokens = promptTokens;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Text has come, a tool call, or the reason of an end. */
  get hasOutput(): boolean {
    return this.#outputBytes > 0 || this.#finished > 0;
  }

  /** Every choice that began has come to its end. */
  get isComplete(): boolean {
    return this.#begun > 0 && this.#finished === this.#begun;
  }

  get seenOutput(): number {
    return estimateTokens(this.#outputBytes);
  }

  get reasons(): boolean {
    return this.#showsReasoning || (this.#reported?.reasoning ?? 0) > 0;
  }

  get isCounted(): boolean {
    return this.#reportIsFinal && this.isComplete;
  }

  /** Without a report, or with one from the middle of a stream, the output is estimated by what was seen. */
  get tokens(): TokenCounts {
    const seen = this.seenOutput;
    if (this.#reported === undefined) return { input: this.#promptTokens, cachedInput: 0, output: seen, reasoning: 0 };
    if (this.#reportIsFinal) return this.#reported;
    return { ...this.#reported, output: Math.max(this.#reported.output, seen) };
  }

  get estimated(): boolean {
    return this.#reported === undefined;
  }

  /** The upstream's usage object, as it was sent last. */
  get reportedUsage(): Record<string, unknown> | undefined {
    return this.#reportedObject;
  }

  choiceBegan(): void {
    this.#begun++;
  }

  choiceFinished(): void {
    this.#finished++;
  }

  /** @param bytes - of text, reasoning, refusals and tool calls. */
  outputCame(bytes: number): void {
    this.#outputBytes += bytes;
  }

  reasoningCame(): void {
    this.#showsReasoning = true;
  }

  /** Anything but a usage object changes nothing. */
  usageCame(usage: Record<string, unknown> | undefined): void {
    const tokens = readUsage(usage);
    if (tokens === undefined) return;
    this.#reported = tokens;
    this.#reportedObject = usage;
    this.#reportIsFinal = this.isComplete;
  }

  /** `[DONE]` has come: nothing behind it counts. */
  doneCame(): void {
    this.#isDone = true;
  }
}
