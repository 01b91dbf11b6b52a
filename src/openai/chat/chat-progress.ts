import { guessTokens } from "../../metering/guess-tokens.js";
import type { StreamProgress } from "../../metering/progress.js";
import type { UsageCounts } from "../../metering/usage-counts.js";
import { type EstimateBounds, estimatedOutput } from "../../model-api/media/token-estimate.js";
import { type CountedTokens, countedTokens } from "../../model-api/usage/counted-tokens.js";
import { UsageTally } from "../../model-api/usage/usage-tally.js";
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
  readonly #tally = new UsageTally();
  #reportedObject: Record<string, unknown> | undefined;
  /** Whether a report that counts the output came with the end of the response or after it. */
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
    return this.#showsReasoning || (this.#tally.report?.tokens.reasoning ?? 0) > 0;
  }

  get isCounted(): boolean {
    return this.#reportIsFinal && this.isComplete && !this.#counted.estimated;
  }

  get awaitsUsage(): boolean {
    return this.isComplete;
  }

  /** The output is an estimate until there is a usage report from the end of the stream. */
  get tokens(): UsageCounts {
    const { tokens } = this.#counted;
    if (this.#reportIsFinal || this.#tally.report === undefined) return tokens;
    return { ...tokens, output: Math.max(tokens.output, estimatedOutput(this.#bounds, this.#output)) };
  }

  get estimated(): boolean {
    return this.#counted.estimated || (this.isComplete && !this.#reportIsFinal);
  }

  get unpriced(): string | undefined {
    return this.#tally.unpriced;
  }

  get #counted(): CountedTokens {
    return countedTokens(this.#tally, this.#bounds, () => this.#output);
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
    const added = this.#tally.add(usage);
    if (added === undefined) return;
    this.#reportedObject = usage;
    // Zeros count nothing, where more was counted before.
    const isCount = added.tokens.output > 0 || this.#tally.report?.tokens.output === 0;
    if (added.hasOutput && isCount) this.#reportIsFinal = this.isComplete;
  }

  /** @param said - the tier that a chunk names. */
  tierCame(said: unknown): void {
    if (said !== undefined) this.#tally.tierCame(said);
  }

  /** `[DONE]` has arrived. Nothing after it counts. */
  doneCame(): void {
    this.#isDone = true;
  }
}
