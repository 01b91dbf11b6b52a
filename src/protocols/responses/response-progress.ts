import type { StreamProgress } from "../../prices/progress.js";
import { guessTokens, type UsageCounts } from "../../prices/usage-counts.js";
import { TextSample } from "../../tokens/text-sample.js";
import type { ByteSpan } from "../../wire/event-template.js";
import { type CountedTokens, countedTokens, type EstimateBounds } from "../shared/token-estimate.js";
import { findReport } from "../shared/usage-report.js";
import { UsageTally } from "../shared/usage-tally.js";

/** The progress of an upstream's own response stream. The stream's reader updates it; the meter reads it. */
export class ResponseProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly #bounds: EstimateBounds;
  readonly #output = new TextSample();
  #hasOutput = false;
  #showsReasoning = false;
  #isComplete = false;
  /** An item has ended, and no other has begun. */
  #isBetweenItems = false;
  readonly #tally = new UsageTally();

  constructor(bounds: EstimateBounds) {
    this.#bounds = bounds;
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
    return guessTokens(this.#output.bytes);
  }

  get reasons(): boolean {
    return this.#showsReasoning || (this.#tally.report?.tokens.reasoning ?? 0) > 0;
  }

  get isCounted(): boolean {
    return this.#isComplete && !this.estimated;
  }

  get awaitsUsage(): boolean {
    return this.#isComplete || this.#isBetweenItems;
  }

  get tokens(): UsageCounts {
    return this.#counted.tokens;
  }

  get estimated(): boolean {
    return this.#counted.estimated;
  }

  get unpriced(): string | undefined {
    return this.#tally.unpriced;
  }

  get #counted(): CountedTokens {
    return countedTokens(this.#tally, this.#bounds, () => this.#output);
  }

  /** @param text - model output; may be empty. */
  outputCame(text: string): void {
    this.#output.addText(text);
    this.#hasOutput = true;
  }

  /** A delta has come whose text stands in the bytes, with so many escapes. */
  textCame(bytes: Uint8Array, { start, end }: Readonly<ByteSpan>, escapes: number): void {
    this.itemGrew();
    this.#output.addEscaped(bytes, start, end, escapes);
    this.#hasOutput = true;
  }

  /** An item of the output has begun or grown. */
  itemGrew(): void {
    this.#isBetweenItems = false;
  }

  itemEnded(): void {
    this.#isBetweenItems = true;
  }

  reasoningCame(): void {
    this.#showsReasoning = true;
  }

  /** @param response - of an event: with its usage, if it has come, and the tier that serves it. */
  responseCame(response: Readonly<Record<string, unknown>>): void {
    this.#tally.add(findReport(response));
    this.#tally.tierCame(response["service_tier"]);
  }

  /** @param text - output that arrived only with the last event. */
  endCame(text: string): void {
    this.outputCame(text);
    this.#isComplete = true;
  }
}
