import { guessTokens } from "../../metering/guess-tokens.js";
import type { StreamProgress } from "../../metering/progress.js";
import type { TokenCounts } from "../../metering/token-counts.js";
import { readUsage } from "../../model-api/answer/usage.js";
import { type EstimateBounds, estimatedOutput, estimatedTokens } from "../../model-api/media/token-estimate.js";
import { TextSample } from "../../tokens/text-sample.js";

/** How many choices a stream has. */
export interface ExpectedChoices {
  /** So many of them complete a stream that nothing else says the end of. */
  readonly all: number;
  /** Fewer are no response, though the upstream says that it is done. Some servers know no `n`. */
  readonly least: number;
}

/** Further ones of a chat completion begin before the first one ends. */
const oneChoice: ExpectedChoices = { all: 1, least: 1 };

/** The progress of a completion's stream. The stream's reader updates it; the meter reads it. */
export class ChatProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly #bounds: EstimateBounds;
  readonly #expected: ExpectedChoices;
  /** Text, reasoning, refusals and tool calls. */
  readonly #output = new TextSample();
  #outputChoice: number | undefined;
  #begun = 0;
  #finished = 0;
  #showsReasoning = false;
  #reported: TokenCounts | undefined;
  #reportedObject: Record<string, unknown> | undefined;
  /** Whether the usage report came with the end of the response or after it. */
  #reportIsFinal = false;
  #isDone = false;

  constructor(bounds: EstimateBounds, expected = oneChoice) {
    this.#bounds = bounds;
    this.#expected = expected;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Whether text, a tool call or a finish reason has arrived. */
  get hasOutput(): boolean {
    return this.#output.bytes > 0 || this.#finished > 0;
  }

  /** Whether every choice that began has ended, and no further one has to come. */
  get isComplete(): boolean {
    const { all, least } = this.#expected;
    return this.#finished === this.#begun && this.#finished >= (this.#isDone ? least : all);
  }

  get seenOutput(): number {
    return guessTokens(this.#output.bytes);
  }

  get reasons(): boolean {
    return this.#showsReasoning || (this.#reported?.reasoning ?? 0) > 0;
  }

  get isCounted(): boolean {
    return this.#reportIsFinal && this.isComplete;
  }

  get awaitsUsage(): boolean {
    return this.isComplete;
  }

  /** The output is an estimate until there is a usage report from the end of the stream. */
  get tokens(): TokenCounts {
    if (this.#reported === undefined) return estimatedTokens(this.#bounds, this.#output);
    if (this.#reportIsFinal) return this.#reported;
    return { ...this.#reported, output: Math.max(this.#reported.output, estimatedOutput(this.#bounds, this.#output)) };
  }

  get estimated(): boolean {
    return this.#reported === undefined || (this.isComplete && !this.#reportIsFinal);
  }

  /** The latest usage object of the upstream, unchanged. */
  get reportedUsage(): Record<string, unknown> | undefined {
    return this.#reportedObject;
  }

  /** Where the output of a choice is added. The texts of several choices must not become one word. */
  outputOf(choice: number): TextSample {
    const output = this.#output;
    if (choice !== this.#outputChoice && output.bytes > 0) output.addText(" ");
    this.#outputChoice = choice;
    return output;
  }

  choiceBegan(): void {
    this.#begun++;
  }

  choiceFinished(): void {
    this.#finished++;
  }

  reasoningCame(): void {
    this.#showsReasoning = true;
  }

  /** Ignores everything but a usage object. */
  usageCame(usage: Record<string, unknown> | undefined): void {
    const tokens = readUsage(usage);
    if (tokens === undefined) return;
    this.#reported = tokens;
    this.#reportedObject = usage;
    this.#reportIsFinal = this.isComplete;
  }

  /** `[DONE]` has arrived. Nothing after it counts. */
  doneCame(): void {
    this.#isDone = true;
  }
}
